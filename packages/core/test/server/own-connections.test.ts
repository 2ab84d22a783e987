/** Connections of single gateway clients, beside the shared one of their server. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { stdioServer, type TemporaryFolder, temporaryFolder, until } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createOpenedHost, type OpenedHost } from "../../src/host.ts";
import { type HostOptions, ToolConfirmationOutcome } from "../../src/index.ts";
import type { ConfirmPort } from "../../src/policy/confirmation.ts";

const inputSchema = { type: "object" };
const client = { name: "tester", conversation: "c1" };

async function openIn(folder: TemporaryFolder, server: object, options: HostOptions = {}): Promise<OpenedHost> {
  await folder.write("home/.gemini/settings.json", { mcpServers: { s: server } });
  const home = join(folder.path, "home");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  const environment = { env, home, cwd: home, platform: process.platform };
  return createOpenedHost({ environment, workspace: false, trust: true, recover: false, ...options });
}

const sayYes: ConfirmPort = async (question) => {
  const details = await question();
  if (details !== false) await details.onConfirm(ToolConfirmationOutcome.ProceedOnce);
};

/** A server whose one tool has this description. */
async function payServer(folder: TemporaryFolder, description: string): Promise<object> {
  const list = await folder.write("list.json", [{ name: "pay", description, inputSchema }]);
  return { ...stdioServer("counted", join(folder.path, "notes"), list), trust: true };
}

test("a start that fails on a client's own connection is a failed start of the server", async () => {
  await using folder = await temporaryFolder();
  await using host = await openIn(folder, { command: "/nowhere" });
  const own = host.gateway.servers.get("s").other("c1", {});
  await expect(own.ready()).rejects.toMatchObject({ code: "command_not_found" });
  expect(await host.failedStarts()).toMatchObject([{ server: "s", failures: 1 }]);
});

test("a definition that a client's user accepts on the client's own connection is accepted in the next run", async () => {
  await using folder = await temporaryFolder();
  const pay = { client, server: "s", method: "tools/call", params: { name: "pay", arguments: {} } };
  for (const [description, asks] of [
    ["Pays.", 0],
    ["Pays you.", 1],
    ["Pays you.", 0],
  ] as const) {
    await using host = await openIn(folder, await payServer(folder, description));
    const connection = host.gateway.servers.get("s").other("c1", {});
    await connection.ready();
    // The catalog is saved: the acceptance comes later.
    await host.gateway.servers.flush();
    let asked = 0;
    await host.gateway.forward(pay, {
      connection,
      confirm: async (question) => {
        const details = await question();
        if (details === false) return;
        asked += 1;
        await details.onConfirm(ToolConfirmationOutcome.ProceedAlwaysTool);
      },
    });
    expect(asked).toBe(asks);
  }
});

test("a request that waits for its confirmation is sent to the server that has replaced its own meanwhile", async () => {
  await using folder = await temporaryFolder();
  const server = (...words: readonly string[]): object => stdioServer("counted", join(folder.path, "notes"), ...words);
  await using host = await openIn(folder, server());
  const { gateway } = host;
  for (const word of ["own", "shared"]) {
    const now = gateway.servers.get("s");
    const connection = word === "own" ? now.other("c1", {}) : now.shared;
    await connection?.ready();
    const reply = await gateway.forward(
      { client, server: "s", method: "tools/call", params: { name: "echo", arguments: { text: word } } },
      {
        connection,
        confirm: async (question) => {
          await folder.write("home/.gemini/settings.json", { mcpServers: { s: { ...server(), env: { WORD: word } } } });
          await host.reload();
          await sayYes(question);
        },
      },
    );
    expect(reply).toMatchObject({ content: [{ text: word }] });
  }
});

test.each(["own", "shared"])(
  "a subscription on the %s connection goes on when its server is replaced",
  async (whose) => {
    await using folder = await temporaryFolder();
    const notes = await folder.write("notes", "");
    const uri = "watched://it";
    const subscribed = (): number =>
      readFileSync(notes, "utf8")
        .split("\n")
        .filter((line) => line === `subscribe ${uri}`).length;
    const server = stdioServer("watched", "legacy", notes);
    await using host = await openIn(folder, server);
    const { gateway } = host;
    const ofClient = () => {
      const now = gateway.servers.get("s");
      return whose === "own" ? now.other("c1", {}) : now.shared;
    };
    using _subscription = await gateway.subscribe("s", uri, { client, connection: ofClient(), confirm: sayYes });
    expect(subscribed()).toBe(1);
    await folder.write("home/.gemini/settings.json", { mcpServers: { s: { ...server, env: { WORD: "other" } } } });
    expect(await host.reload()).toMatchObject({ replaced: ["s"] });
    // Any request of the client connects the new server.
    await ofClient()?.ready();
    await until(() => subscribed() === 2);
  },
);

test("what a connection has listed is not kept after its client has left", async () => {
  await using folder = await temporaryFolder();
  await using host = await openIn(folder, await payServer(folder, "Pays."));
  const server = host.gateway.servers.get("s");

  async function leave(): Promise<WeakRef<object>> {
    const listed = new WeakRef(server.listedBy(await server.other("c1", {}).ready()));
    await server.closeOther("c1");
    await host.gateway.servers.flush();
    return listed;
  }

  const listed = await leave();
  setFlagsFromString("--expose-gc");
  await until(() => {
    (runInNewContext("gc") as () => void)();
    return listed.deref() === undefined;
  });
});

test("the protocol that a client's own connection has negotiated is not negotiated again in the next run", async () => {
  await using folder = await temporaryFolder();
  const script = await folder.write(
    "server.mjs",
    `import { createInterface } from "node:readline";
    import { appendFileSync } from "node:fs";
    createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      appendFileSync(process.argv[2], method + "\\n");
      const serverInfo = { name: "old", version: "1" };
      const result = method === "initialize" && { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo };
      const reply = result ? { result } : method === "tools/list" ? { result: { tools: [{ name: "a", inputSchema: { type: "object" } }] } } : { error: { code: -32601, message: "unknown" } };
      if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...reply }) + "\\n");
    });`,
  );
  const first: unknown[] = [];
  for (const _run of ["first", "second"]) {
    const notes = await folder.write("notes", "");
    await using host = await openIn(folder, { command: process.execPath, args: [script, notes] });
    await host.gateway.servers.get("s").other("c1", {}).ready();
    first.push(readFileSync(notes, "utf8").split("\n")[0]);
  }
  expect(first).toEqual(["server/discover", "initialize"]);
});
