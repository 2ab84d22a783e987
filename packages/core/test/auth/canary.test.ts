import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import { browser, processesWith, stdioServer, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import type { SignInMessage } from "../../src/auth/browser/sign-in-ui.ts";
import type { HostEvent } from "../../src/events.ts";
import type { Host } from "../../src/host.ts";
import { both } from "./both-servers.ts";
import { person } from "./person.ts";
import { hostFor } from "./signed-in-host.ts";

/** As it is, in an address, and as Basic authentication would carry it. */
function formsOf(secret: string): readonly string[] {
  return [secret, encodeURIComponent(secret), Buffer.from(secret).toString("base64").replace(/=*$/, "").slice(0, -1)];
}

function secretsIn(text: string, secrets: Iterable<string>): readonly string[] {
  return [...secrets].filter((secret) => secret !== "" && formsOf(secret).some((form) => text.includes(form)));
}

async function filesIn(folder: TemporaryFolder): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(folder.path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(await Promise.all(files.map(async (file) => [file, await readFile(file, "latin1")] as const)));
}

/** Everything of an error, or of whatever else: causes, hidden fields, stacks. */
const all = (value: unknown): string =>
  inspect(value, { depth: Number.POSITIVE_INFINITY, showHidden: true, maxStringLength: null });

const eventTypes = Object.keys({
  state: true,
  discovery: true,
  servers: true,
  settings_changed: true,
  ide_trust_changed: true,
  settings_unread: true,
  fetching: true,
  stderr: true,
  list_changed: true,
  catalog: true,
  refresh_failed: true,
  log: true,
  resource_updated: true,
  history_failed: true,
  conversation_not_recorded: true,
} satisfies Record<HostEvent["type"], true>) as readonly HostEvent["type"][];

const ui = ["none", "client_secret_basic", "client_secret_post"] as const;

test.each(ui)(
  "no secret of a sign-in is anywhere but in the store and where it belongs (%s)",
  async (clientAuthentication) => {
    await using servers = await both(
      { clientAuthentication, scopes: ["read", "openid"] },
      { scopes: ["read", "openid"] },
    );
    const { authorization, guarded } = servers;
    await using folder = await temporaryFolder();
    const mark = `CANARY_RUN=${folder.path}`;
    const someone = person();
    const said: unknown[] = [];
    const remember = (value: unknown): void => void said.push(value);
    const begin = async (signIn: boolean): Promise<Host> => {
      const beside = { beside: { ...stdioServer("well-behaved"), env: { CANARY_RUN: folder.path } } };
      const options = {
        debug: true,
        observe: (...step: unknown[]) => remember(step),
        ...(signIn && { signIn: someone.ui }),
      };
      const host = await hostFor(folder, guarded.url, { beside }, options);
      for (const type of eventTypes) host.on(type, remember);
      return host;
    };
    let processes: readonly string[] = [];
    {
      await using host = await begin(true);
      await host.start();
      remember(await host.call("docs", "echo", { text: "hi" }));
      authorization.expireTokens();
      remember(await host.call("docs", "echo", { text: "after a refresh" }));
      processes = await describeProcesses(mark);
      remember([host.states(), host.tools()]);
    }
    {
      await using host = await begin(false);
      await host.start();
      authorization.expireTokens();
      authorization.interrupt("token", (request, response) => response.writeHead(400).end(quoting(request.body)));
      remember(await host.call("docs", "echo", { text: "refresh fails" }).catch((error: unknown) => error));
      guarded.interrupt("mcp", ({ headers }, response) =>
        response.writeHead(500).end(quoting(String(headers.authorization))),
      );
      remember(await host.call("docs", "echo", { text: "server fails" }).catch((error: unknown) => error));
      authorization.revokeGrants();
      remember(await host.call("docs", "echo", { text: "grant is over" }).catch((error: unknown) => error));
      remember(host.states());
    }

    const { secrets } = authorization;
    expect(secrets.size).toBeGreaterThan(6);
    expect(authorization.callsTo("token", "refresh_token").length).toBeGreaterThan(1);
    expect(processes.length).toBeGreaterThan(0);
    for (const process of processes) expect(secretsIn(process, secrets)).toEqual([]);
    expect(secretsIn(all(said), secrets)).toEqual([]);
    const files = await filesIn(folder);
    expect([...files.keys()].some((file) => file.endsWith("docs.log"))).toBe(true);
    for (const [file, content] of files) expect([file, secretsIn(content, secrets)]).toEqual([file, []]);
    // The address that a person opens carries the state, and nothing else.
    const states = someone.opened.map((url) => new URL(url).searchParams.get("state") ?? "");
    expect(secretsIn(all([someone.shown, someone.opened]), secrets)).toEqual(states);
  },
);

test("nor when an address is pasted, or a code typed elsewhere: right or wrong", async () => {
  await using servers = await both({ deviceInterval: 1 });
  const { authorization, guarded } = servers;
  await using folder = await temporaryFolder();
  const said: unknown[] = [];
  const addresses: string[] = [];
  let pastes = 0;
  const show = (message: SignInMessage): void => {
    if (message.kind === "address") addresses.push(message.url);
    else said.push(message);
    if (message.kind === "device") authorization.decideDevice(message.userCode, "approve");
  };
  const paste = async (): Promise<string> => {
    pastes += 1;
    const { address } = await browser(addresses.at(-1) ?? "", { visits: false });
    return pastes === 1 ? address.replace("state=", "state=x") : address;
  };
  for (const ui of [{ paste }, { device: true }]) {
    const signIn = { browserFirst: false, show, again: true, ...ui };
    await using host = await hostFor(folder, guarded.url, {}, { debug: true, signIn });
    await host.start({ servers: ["docs"] });
    said.push(host.states());
    expect(host.tools("docs").length).toBe(1);
  }
  const { secrets } = authorization;
  expect(authorization.callsTo("token").length).toBeGreaterThan(1);
  expect(secretsIn(all(said), secrets)).toEqual([]);
  for (const [file, content] of await filesIn(folder)) expect([file, secretsIn(content, secrets)]).toEqual([file, []]);
});

/** What an unkind server might say. */
function quoting(text: string): string {
  return JSON.stringify({ error: "invalid_request", error_description: `I do not like ${text}` });
}

/** Command lines and environments of all that this run has started. */
async function describeProcesses(mark: string): Promise<readonly string[]> {
  return Promise.all(
    processesWith(mark).map(async (line) => {
      const [pid = ""] = line.split(" ");
      return `${line}\n${await readFile(`/proc/${pid}/environ`, "latin1")}`;
    }),
  );
}
