import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isRunning, scaled, stdioServer, temporaryFolder, until } from "@fairlead/test-servers";
import { expect, it, vi } from "vitest";
import { type Client, type GatewayMachine, gatewayMachine, type Message } from "../../support/gateway-client.ts";
import { processesOf } from "../../support/left-over.ts";
import { program, runPiped } from "../../support/process.ts";

/** A machine with the server `counted`, which notes every start and call in a file. */
async function countedMachine(): Promise<GatewayMachine & { readonly notes: () => Promise<readonly string[]> }> {
  const folder = await temporaryFolder();
  const file = await folder.write("notes", "");
  const here = await gatewayMachine({ counted: stdioServer("counted", file) });
  await fillCache(here);
  return {
    ...here,
    notes: async () => (await readFile(file, "utf8")).split("\n").filter((line) => line !== ""),
    async [Symbol.asyncDispose]() {
      await here[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** A list waits only a short time for a server that was never listed: too short on a busy machine. */
async function fillCache(here: GatewayMachine): Promise<void> {
  const { code, stderr } = await here.run("mcp", "list", "--strict");
  if (code !== 0) throw new Error(stderr);
}

function textOf(message: Message): unknown {
  const { content } = message["result"] as { readonly content: readonly { readonly text: string }[] };
  return content[0]?.text;
}

const lost = { error: { code: -32603, message: expect.stringContaining("may have run"), data: { reason: "lost" } } };

const together = scaled(10, 5);
it(`serves ${together} clients that start at the same moment with one host and one process for each server`, async () => {
  const names = Array.from({ length: together }, (_, at) => `s${at}`);
  await using here = await gatewayMachine(
    Object.fromEntries(names.map((name) => [name, stdioServer("counted", "", "", name)])),
  );
  await fillCache(here);
  const clients = await Promise.all(Array.from({ length: together }, () => here.client("--client", "many")));
  const answers = await Promise.all(
    clients.flatMap((client) =>
      names.map((name) => client.call(name === "s0" ? "echo" : `${name}__echo`, { text: name })),
    ),
  );
  expect(answers.map(textOf)).toEqual(clients.flatMap(() => names));
  expect(await here.hostStarts()).toBe(1);
  const servers = processesOf(here).filter((line) => line.includes("relay.sh") && !line.includes("/bin/cat"));
  expect(new Set(servers.map((line) => line.slice(line.indexOf(" "))))).toHaveProperty("size", together);
  expect(servers).toHaveLength(together);
  process.stderr.write(
    `gateway: ${together} programs with ${together} servers share ${servers.length} server processes; alone they would start ${together ** 2}\n`,
  );
  const status = await here.run("daemon", "status", "--json");
  expect(JSON.parse(status.stdout)).toMatchObject({
    running: true,
    clients: clients.map(() => ({ name: "many" })),
    servers: expect.arrayContaining(names.map((name) => ({ name, status: "connected" }))),
  });

  // (e) A killed host costs none of its relays their connection.
  await here.killHost();
  const again = await Promise.all(clients.map((client) => client.call("echo", { text: "again" })));
  expect(again.map(textOf)).toEqual(clients.map(() => "again"));
  expect(await here.hostStarts()).toBe(2);
});

it("survives the death of its host between calls, and announces that lists may have changed", async () => {
  await using here = await countedMachine();
  const client = await here.client();
  expect(textOf(await client.call("echo", { text: "one" }))).toBe("one");
  await here.killHost();
  await client.told("notifications/tools/list_changed");
  expect(textOf(await client.call("echo", { text: "two" }))).toBe("two");
  expect((await here.notes()).filter((line) => line.startsWith("call"))).toHaveLength(2);
});

it("keeps the server of every name that its client has listed when its host dies", async () => {
  await using folder = await temporaryFolder();
  const tools = (...names: readonly string[]) => ({
    tools: names.map((name) => ({ name, inputSchema: { type: "object" } })),
  });
  const server = async (name: string, ...offered: readonly string[]) =>
    stdioServer("contender", await folder.write(`${name}.json`, tools(...offered)), name);
  await using here = await gatewayMachine({
    aaa: await server("aaa", "other"),
    bank: await server("bank", "send_money"),
  });
  await fillCache(here);
  const client = await here.client();
  await client.ask("tools/list");
  // The next host finds a cached catalog in which the first server has the name, too.
  await folder.write("aaa.json", tools("send_money"));
  await fillCache(here);
  await here.killHost();
  await client.told("notifications/tools/list_changed");
  expect(textOf(await client.call("send_money", { secret: 1 }))).toBe("bank");
  expect(textOf(await client.call("aaa__send_money"))).toBe("aaa");
  const { result } = await client.ask("tools/list");
  expect(JSON.stringify(result)).toMatch(/"aaa__send_money".+"send_money"/);
  const later = await here.client();
  await later.ask("tools/list");
  expect(textOf(await later.call("send_money"))).toBe("aaa");
});

it("answers a call as lost that its server had when the host died, and never repeats it", async () => {
  await using here = await countedMachine();
  const client = await here.client();
  const call = client.call("ask", { method: "elicitation/create", params: { message: "?", requestedSchema: {} } });
  await until(() => client.other.some(({ method }) => method === "elicitation/create"));
  await here.killHost();
  expect(await call).toMatchObject(lost);
  expect(await call).toMatchObject({ error: { message: "the gateway was restarted; counted.ask may have run" } });
  expect(textOf(await client.call("echo", { text: "next" }))).toBe("next");
  expect((await here.notes()).filter((line) => line.startsWith("call ask"))).toHaveLength(1);
});

it("sends a call again that no server had when the host died", async () => {
  await using gate = await temporaryFolder();
  const open = join(gate.path, "open");
  await using here = await gatewayMachine({ slow: stdioServer("slow-start", open) });
  // The list is cached, so that the call is what starts the server.
  await gate.write("open", "");
  await fillCache(here);
  await gate[Symbol.asyncDispose]();
  await gate.write("closed", "");
  const client = await here.client();
  const call = client.call("echo", { text: "late" });
  await until(() => processesOf(here).some((line) => line.includes("slow-start")));
  await here.killHost();
  await until(() => processesOf(here).some((line) => line.includes("slow-start")));
  await gate.write("open", "");
  expect(textOf(await call)).toBe("late");
});

it("makes no more effects than calls when its host is killed in the middle of them", async () => {
  await using here = await countedMachine();
  const client = await here.client();
  const count = scaled(200, 40);
  const answers: Message[] = [];
  let killing: Promise<void> | undefined;
  let made = 0;
  async function work(): Promise<void> {
    while (made < count) {
      made += 1;
      if (made === count / 2) killing = here.killHost();
      answers.push(await client.call("echo", { text: String(made) }));
    }
  }
  await Promise.all(Array.from({ length: 8 }, work));
  await killing;
  expect(answers).toHaveLength(count);
  const failed = answers.filter((answer) => answer["result"] === undefined);
  for (const answer of failed) expect(answer).toMatchObject(lost);
  const effects = (await here.notes()).filter((line) => line.startsWith("call"));
  expect(new Set(effects).size).toBe(effects.length);
  expect(effects.length).toBeGreaterThanOrEqual(count - failed.length);
  expect(effects.length).toBeLessThanOrEqual(count);
  expect(textOf(await client.call("echo", { text: "next" }))).toBe("next");
});

it("answers a script that writes its requests into a pipe and closes it, with a background host and alone", async () => {
  await using here = await countedMachine();
  const requests = [
    { id: 0, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {} } },
    { method: "notifications/initialized" },
    { id: 1, method: "tools/call", params: { name: "echo", arguments: { text: "piped" } } },
  ];
  const script = requests.map((request) => JSON.stringify({ jsonrpc: "2.0", ...request })).join("\n");
  for (const words of [[], ["--alone"]]) {
    const { code, stdout } = await runPiped(here, script, "serve", ...words);
    const answers = stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Message]));
    expect(answers.find(({ id }) => id === 0)).toHaveProperty("result.protocolVersion", "2025-11-25");
    expect(answers.filter(({ id }) => id === 1).map(textOf)).toEqual(["piped"]);
    expect(code).toBe(0);
  }
});

it("ends with its client, also if a server waits for an answer of that client", async () => {
  await using here = await countedMachine();
  const client: Client = await here.client();
  void client.call("ask", { method: "elicitation/create", params: {} }).catch(() => {});
  await client.told("elicitation/create");
  const { pid = 0 } = client.child;
  await client.end();
  expect(isRunning(pid)).toBe(false);
  expect(client.child.exitCode).toBe(0);
  const status = async (): Promise<unknown> => JSON.parse((await here.run("daemon", "status", "--json")).stdout);
  expect(await status()).toMatchObject({ running: true });
  while (((await status()) as { readonly clients: readonly unknown[] }).clients.length > 0);
});

it("runs its own servers with --alone, and when the run folder cannot be made", async () => {
  await using here = await countedMachine();
  const alone = await here.client("--alone");
  expect(textOf(await alone.call("echo", { text: "alone" }))).toBe("alone");
  await alone.end();
  await here.write("home/.fairlead/run", "a file where the folder should be");
  const other = await here.client();
  expect(textOf(await other.call("echo", { text: "other" }))).toBe("other");
  expect(other.errors()).toMatch(
    /^fairlead: the background host cannot be used: .*; this process starts its own servers\n$/,
  );
  expect(await here.hostPid()).toBeUndefined();
});

it("reaches only the servers and tools that it is told", async () => {
  await using here = await gatewayMachine({
    one: stdioServer("counted", "", "", "one"),
    two: stdioServer("counted", "", "", "two"),
  });
  await fillCache(here);
  const client = await here.client("--servers=two", "--tools", "two.e*");
  const { result } = await client.ask("tools/list");
  expect((result as { readonly tools: readonly { readonly name: string }[] }).tools.map(({ name }) => name)).toEqual([
    expect.stringContaining("echo"),
  ]);
});

it("lists the tools of many servers from the cache, with no server process", async () => {
  const names = Array.from({ length: scaled(50, 12) }, (_, at) => `s${at}`);
  const servers = names.map((name) => [name, stdioServer("counted", "", "", name)] as const);
  await using here = await gatewayMachine(Object.fromEntries(servers));
  await fillCache(here);
  const client = await here.client();
  const { result } = await client.ask("tools/list");
  expect((result as { readonly tools: readonly unknown[] }).tools).toHaveLength(2 * names.length);
  // The relay and the host.
  for (const verb of ["serve", "__host"])
    expect(processesOf(here)).toContainEqual(expect.stringMatching(`fairlead\\S* ${verb}(?: |$)`));
  expect(processesOf(here).filter((line) => line.includes("relay.sh"))).toEqual([]);
});

it.each([
  ["its background host", ["serve"]],
  ["a gateway without a background host", ["serve", "--alone"]],
])("refuses an entry that starts %s through a program that clears the environment", async (_, words) => {
  await using folder = await temporaryFolder();
  const script = join(folder.path, "launch.sh");
  await using here = await gatewayMachine({
    counted: stdioServer("counted"),
    wrapped: { command: "/bin/sh", args: [script] },
  });
  const kept = ["PATH", "HOME", "FAIRLEAD_HOME", "FAIRLEAD_SECRET_STORE", "GEMINI_CLI_SYSTEM_SETTINGS_PATH"];
  const variables = kept.flatMap((name) => (here.env[name] === undefined ? [] : [`${name}='${here.env[name]}'`]));
  const command = ["exec env -i", ...variables, `'${process.execPath}' '${program}'`, ...words].join(" ");
  await folder.write("launch.sh", `cd '${here.project}' && ${command}\n`);
  expect(await here.run("mcp", "test", "counted")).toMatchObject({ code: 0 });
  const client = await here.client();
  const listed = async (): Promise<readonly unknown[]> => {
    const { tools } = (await client.ask("tools/list"))["result"] as { readonly tools: readonly Message[] };
    return tools.map(({ name }) => name);
  };
  expect(await listed()).toEqual(["echo", "ask"]);
  const reason = '"wrapped" leads back to this gateway: it would be a server of itself';
  await vi.waitFor(async () => expect((await here.run("mcp", "logs", "wrapped")).stdout).toContain(reason), {
    timeout: 30_000,
  });
  expect(await listed()).toEqual(["echo", "ask"]);
  expect(textOf(await client.call("echo", { text: "hello" }))).toBe("hello");
});
