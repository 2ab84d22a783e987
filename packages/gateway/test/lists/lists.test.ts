import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer, temporaryFolder } from "@fairlead/test-servers";
import type { JsonObject, Session } from "@fairlead/wire";
import { expect, test } from "vitest";
import { allowAll, gatewayScene } from "../support/gateway-scene.ts";
import { steppedClock } from "../support/stepped-clock.ts";

async function namesOf(client: Session): Promise<readonly unknown[]> {
  const { tools } = await client.request("tools/list");
  return (tools as readonly JsonObject[]).map(({ name }) => name);
}

/** Resolves when the client was told that the tools have changed, and its list is as expected. */
function toldOf(client: Session, isExpected: (names: readonly unknown[]) => boolean): Promise<void> {
  return new Promise((resolve) => {
    client.onNotification((method) => {
      if (method !== "notifications/tools/list_changed") return;
      // A list request that is still open when the test ends fails.
      void namesOf(client).then(
        (names) => isExpected(names) && resolve(),
        () => {},
      );
    });
  });
}

function starts(notes: string): number {
  return existsSync(notes)
    ? readFileSync(notes, "utf8")
        .split("\n")
        .filter((line) => line.startsWith("start")).length
    : 0;
}

test("names that two servers have belong to the first; the address of a server has its own names", async () => {
  await using folder = await temporaryFolder();
  await using here = await gatewayScene({
    servers: {
      one: stdioServer("counted", join(folder.path, "one")),
      two: stdioServer("counted", join(folder.path, "two")),
    },
  });
  const [all, two] = [await here.client({ era: "legacy" }), await here.client({ era: "modern", only: "two" })];
  expect(await namesOf(all)).toEqual(["echo", "ask", "two__echo", "two__ask"]);
  expect(await namesOf(two)).toEqual(["echo", "ask"]);
  await all.request("tools/call", { name: "two__echo", arguments: { text: "merged" } });
  await two.request("tools/call", { name: "echo", arguments: { text: "alone" } });
  expect(readFileSync(join(folder.path, "two"), "utf8")).toMatch(
    /call echo {"text":"merged"}\ncall echo {"text":"alone"}/,
  );
  expect(readFileSync(join(folder.path, "one"), "utf8")).not.toContain("call");
});

test("clients that ask while a server connects for the first time all get its tools", async () => {
  await using folder = await temporaryFolder();
  const notes = join(folder.path, "notes");
  await using here = await gatewayScene({ servers: { s: stdioServer("counted", notes) } });
  const clients = await Promise.all(
    Array.from({ length: 5 }, (_, at) => here.client({ era: at % 2 === 0 ? "legacy" : "modern" })),
  );
  expect(await Promise.all(clients.map(namesOf))).toEqual(clients.map(() => ["echo", "ask"]));
  expect(starts(notes)).toBe(1);
});

test("a new server that is slower than the first list is announced when it has connected", async () => {
  await using folder = await temporaryFolder();
  const clock = steppedClock();
  const servers = { slow: stdioServer("slow-start", join(folder.path, "gate")) };
  await using here = await gatewayScene({ servers, clock });
  const client = await here.client({ era: "legacy" });
  const listed = namesOf(client);
  await clock.fire(2000);
  expect(await listed).toEqual([]);
  const told = toldOf(client, (names) => names.includes("echo"));
  await folder.write("gate", "");
  await told;
});

test("the client that was the first to start a server gets its tools again after its entry has changed", async () => {
  await using folder = await temporaryFolder();
  const notes = join(folder.path, "notes");
  const server = stdioServer("counted", notes);
  await using here = await gatewayScene({ servers: { s: server } });
  const client = await here.client({ era: "legacy" });
  expect(await namesOf(client)).toEqual(["echo", "ask"]);
  const told = toldOf(client, (names) => names.includes("echo") && starts(notes) > 1);
  await here.setSettings({ mcpServers: { s: { ...server, env: { CHANGED: "yes" } } } });
  await told;
  const called = await client.request("tools/call", { name: "echo", arguments: { text: "still here" } });
  expect(called["isError"]).not.toBe(true);
});

test("lists come from the cache without a process, and neither a dead nor a hanging server delays them", async () => {
  await using folder = await temporaryFolder();
  const notes = join(folder.path, "notes");
  const good = { good: stdioServer("counted", notes) };
  await using first = await gatewayScene({ servers: good });
  await namesOf(await first.client({ era: "legacy" }));
  expect(starts(notes)).toBe(1);
  await first.gateway[Symbol.asyncDispose]();

  const clock = steppedClock();
  await using here = await gatewayScene({
    home: first.home,
    clock,
    servers: { ...good, hangs: stdioServer("silent"), dead: stdioServer("exits") },
  });
  const client = await here.client({ era: "modern" });
  const listed = namesOf(client);
  // The first list gives servers that were never connected a short time.
  await clock.fire(2000);
  expect(await listed).toEqual(["echo", "ask"]);
  expect(await namesOf(client)).toEqual(["echo", "ask"]);
  // The server that hangs is still connecting. One client has waited for it, so it delays no other client.
  expect(await namesOf(await here.client({ era: "legacy" }))).toEqual(["echo", "ask"]);
  expect(starts(notes)).toBe(1);
  await client.request("tools/call", { name: "echo", arguments: { text: "now" } });
  expect(starts(notes)).toBe(2);
});

test("ten clients of both eras share one process of a server", async () => {
  await using folder = await temporaryFolder();
  const notes = join(folder.path, "notes");
  await using here = await gatewayScene({ servers: { good: stdioServer("counted", notes) } });
  const clients = await Promise.all(
    Array.from({ length: 10 }, (_, at) => here.client({ era: at % 2 === 0 ? "legacy" : "modern" })),
  );
  await Promise.all(clients.map(namesOf));
  const results = await Promise.all(
    clients.map((client, at) => client.request("tools/call", { name: "echo", arguments: { text: `${at}` } })),
  );
  expect(results.map(({ content }) => content)).toEqual(clients.map((_, at) => [{ type: "text", text: `${at}` }]));
  expect(starts(notes)).toBe(1);
});

test("each client has its own process of a server that is not shared", async () => {
  await using folder = await temporaryFolder();
  const notes = join(folder.path, "notes");
  await using here = await gatewayScene({
    servers: { good: stdioServer("counted", notes) },
    fairlead: { servers: { good: { share: "client" } } },
  });
  const clients = await Promise.all([1, 2].map(() => here.client({ era: "legacy" })));
  for (const client of clients) expect(await namesOf(client)).toEqual(["echo", "ask"]);
  for (const client of clients) await client.request("tools/call", { name: "echo", arguments: {} });
  expect(starts(notes)).toBe(2);
});

test("a profile limits servers and tools, also for the address of a server", async () => {
  await using folder = await temporaryFolder();
  const server = (name: string) => stdioServer("counted", join(folder.path, name));
  await using here = await gatewayScene({
    servers: { one: server("one"), two: server("two") },
    fairlead: { clients: { tester: { servers: ["one"], tools: ["one.ec*"] } } },
  });
  const [all, one] = [await here.client({ era: "legacy" }), await here.client({ era: "legacy", only: "one" })];
  expect(await namesOf(all)).toEqual(["echo"]);
  expect(await namesOf(one)).toEqual(["echo"]);
  for (const [client, name] of [
    [all, "ask"],
    [all, "two__echo"],
    [one, "ask"],
  ] as const)
    await expect(client.request("tools/call", { name, arguments: {} })).rejects.toMatchObject({
      evidence: { rpc: { code: -32602 } },
    });
  await expect(here.client({ era: "legacy", only: "two" })).rejects.toThrow();
  expect(existsSync(join(folder.path, "two"))).toBe(false);
});

test("a client of which every named server is unknown is told so, in both eras; one that is known is enough", async () => {
  await using folder = await temporaryFolder();
  const servers = { one: stdioServer("counted", join(folder.path, "one")) };
  await using none = await gatewayScene({
    servers,
    listen: { client: { name: "tester", servers: ["nope", "\u001b[31mneither"] } },
  });
  for (const era of ["legacy", "modern"] as const)
    await expect(none.client({ era })).rejects.toThrow(
      /--servers names nope, \u241b\[31mneither, which the settings do not contain/,
    );
  await using some = await gatewayScene({ servers, listen: { client: { name: "tester", servers: ["nope", "one"] } } });
  expect(await namesOf(await some.client({ era: "legacy" }))).toEqual(["echo", "ask"]);
});

test("a server with very many stuffed tools takes neither all places of a tool budget nor all of a search", async () => {
  await using folder = await temporaryFolder();
  const [notes, list] = [join(folder.path, "notes"), join(folder.path, "list")];
  const words = "answer with a line of text, echo what it is told, report progress, image, audio, error";
  const stuffed = Array.from({ length: 60 }, (_none, at) => ({
    name: `line_of_text_${at}`,
    title: words,
    description: `${words} `.repeat(5),
    inputSchema: { type: "object" },
  }));
  await writeFile(list, JSON.stringify(stuffed));
  await using here = await gatewayScene({
    servers: { flood: stdioServer("counted", notes, list), fx: stdioServer("conformance") },
    fairlead: { clients: { tester: { toolBudget: { tools: 10 } } } },
  });
  const client = await here.client({ era: "modern" });
  const listed = await namesOf(client);
  expect(listed.filter((name) => String(name).startsWith("line_of_text"))).toHaveLength(4);
  expect(listed).toHaveLength(10);
  for (const limit of [undefined, 8, 20]) {
    const queries = ["answers with a line of text"];
    const { content } = await client.request("tools/call", { name: "search_tools", arguments: { queries, limit } });
    const [{ text }] = content as [{ text: string }];
    const servers = text.split("\n").map((line) => JSON.parse(line).server);
    expect(servers.filter((server) => server === "flood").length).toBeLessThanOrEqual(
      Math.ceil((servers.length * 3) / 4),
    );
    expect(text).toContain('"test_simple_text"');
  }
});

test("a tool budget lists what fits; the others are found and called", async () => {
  await using folder = await temporaryFolder();
  const notes = join(folder.path, "notes");
  await using here = await gatewayScene({
    servers: { one: stdioServer("counted", notes), fx: stdioServer("conformance") },
    fairlead: { clients: { tester: { toolBudget: { tools: 4 } } } },
    rules: `${allowAll}\n[[rule]]\nmcpName = "fx"\ntoolName = "test_error_handling"\ndecision = "deny"\npriority = 900\n`,
  });
  const client = await here.client({ era: "modern" });
  expect(await namesOf(client)).toEqual(["echo", "test_simple_text", "search_tools", "call_tool"]);
  const search = async (words: string) => {
    const { content } = await client.request("tools/call", { name: "search_tools", arguments: { queries: [words] } });
    return JSON.stringify(content);
  };
  expect(await search("answers with a line of text")).toContain("test_simple_text");
  expect(await search("test_error_handling fails always")).not.toContain("test_error_handling");
  expect(
    await client.request("tools/call", { name: "call_tool", arguments: { name: "test_simple_text" } }),
  ).toMatchObject({ content: [{ text: "A line of text." }] });
  expect(
    await client.request("tools/call", { name: "call_tool", arguments: { name: "test_error_handling" } }),
  ).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/^fx\.test_error_handling denied: .+\nNext: .+$/) }],
  });
});

test("a server's own search_tools has its server's name for a client with a budget, and none without", async () => {
  await using folder = await temporaryFolder();
  const tools = join(folder.path, "tools.json");
  const inputSchema = { type: "object" };
  await writeFile(tools, JSON.stringify(["search_tools", "call_tool"].map((name) => ({ name, inputSchema }))));
  const servers = { one: stdioServer("echo-catalog", tools) };
  await using here = await gatewayScene({ servers, fairlead: { clients: { tester: { toolBudget: { tools: 4 } } } } });
  const client = await here.client({ era: "modern" });
  expect(await namesOf(client)).toEqual(["one__search_tools", "one__call_tool"]);
  for (const name of ["one__search_tools", "one__call_tool"])
    expect(JSON.stringify(await client.request("tools/call", { name, arguments: { here: "own" } }))).toContain("own");
  await using plain = await gatewayScene({ servers });
  expect(await namesOf(await plain.client({ era: "modern" }))).toEqual(["search_tools", "call_tool"]);
});

test("a rule that denies a tool hides it from clients, which are told", async () => {
  await using folder = await temporaryFolder();
  const clock = steppedClock();
  await using here = await gatewayScene({ servers: { one: stdioServer("counted", join(folder.path, "one")) }, clock });
  const client = await here.client({ era: "legacy" });
  expect(await namesOf(client)).toEqual(["echo", "ask"]);
  const told = toldOf(client, ({ length }) => length === 1);
  const deny = '[[rule]]\nmcpName = "one"\ntoolName = "ask"\nclient = "tester"\ndecision = "deny"\npriority = 900\n';
  await here.setRules(`${allowAll}\n${deny}`);
  await clock.fire(3000);
  await told;
  expect(await namesOf(client)).toEqual(["echo"]);
  expect(await client.request("tools/call", { name: "ask", arguments: {} })).toMatchObject({ isError: true });
});

test("a profile that is changed takes effect, and the client is told", async () => {
  await using folder = await temporaryFolder();
  const servers = { one: stdioServer("counted", join(folder.path, "one")) };
  await using here = await gatewayScene({ servers });
  const client = await here.client({ era: "legacy" });
  expect(await namesOf(client)).toEqual(["echo", "ask"]);
  const told = toldOf(client, ({ length }) => length === 1);
  await here.setSettings({ mcpServers: servers, fairlead: { clients: { tester: { tools: ["one.echo"] } } } });
  await told;
  await expect(client.request("tools/call", { name: "ask", arguments: {} })).rejects.toMatchObject({
    evidence: { rpc: { code: -32602 } },
  });
});
