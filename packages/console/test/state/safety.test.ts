/** What hostile servers, secrets and floods do to the state of a console. */

import { join } from "node:path";
import { programServer, stdioServer, temporaryFolder, until, webServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { KeptResults } from "../../src/server/state/results.ts";
import { allowAll, consoleScene, ofType } from "./scene.ts";

const planted = "planted-7f3a9c-secret-value";
const inHeader = "header-51d0bb-secret-value";
const ofEnvironment = "environment-90ee-secret-value";
const ofModel = "AIzaSyA-model-key-0123456789abcdefghij";

test("no planted secret is in anything that leaves the state", async () => {
  await using folder = await temporaryFolder();
  const leak = {
    content: [
      { type: "text", text: `the token is ${planted} and ${ofEnvironment}` },
      {
        type: "resource",
        resource: { uri: "file:///a", blob: Buffer.from(`a file with ${planted}`).toString("base64") },
      },
    ],
    structuredContent: { id: planted, nested: { kind: [planted], [planted]: 1 } },
  };
  await folder.write("results.json", { leak, [`tool ${planted}`]: leak });
  await using web = await webServer((_, response) => {
    response.writeHead(500, { "content-type": "text/plain" }).end(`wrong token ${inHeader}`);
  });
  await using scene = await consoleScene({
    servers: {
      leaky: {
        ...stdioServer("results", join(folder.path, "results.json")),
        env: { API_TOKEN: planted, OTHER: "$SOME_VARIABLE" },
      },
      remote: { httpUrl: `${web.origin}/mcp`, headers: { Authorization: `Bearer ${inHeader}` } },
      dies: { ...programServer("exits", "3", `no access with ${planted}`), env: { API_TOKEN: planted } },
    },
    rules: allowAll,
    fairlead: { audit: { arguments: true } },
    env: { SOME_VARIABLE: ofEnvironment, GEMINI_API_KEY: ofModel },
  });
  await scene.run("servers/start", { servers: ["leaky", "remote", "dies"] });
  await scene.event(ofType("server", ({ server }) => server.name === "remote" && server.cause !== undefined));
  await scene.event(ofType("server", ({ server }) => server.name === "dies" && server.cause !== undefined));
  const args = { token: planted, text: `uses ${planted}, ${inHeader} and ${ofModel}` };
  await scene.run("calls/tool", { call: "c", server: "leaky", tool: "leak", args });
  await scene.event(ofType("call", ({ call }) => call.id === "c" && call.endedAt !== undefined));
  // A client that sends a secret of the host.
  const client = await scene.client();
  await client.request("tools/call", { name: "leak", arguments: args }).catch(() => {});
  await scene.event(ofType("frames"));
  const results = await scene.run("calls/result", { call: "c" });
  expect(JSON.stringify(results)).toContain("(hidden)");
  const blob = await scene.run("calls/blob", { call: "c", path: "/content/1" });
  const text = await scene.run("calls/blob", { call: "c", path: "/content/0" });
  for (const { base64 } of [blob, text]) expect(Buffer.from(base64, "base64").toString()).toContain("(hidden)");
  for (const { id } of (await scene.run("traffic/list", {})).frames) await scene.run("traffic/body", { id });
  await scene.run("traffic/export", { server: "leaky" });
  for (const server of ["leaky", "remote", "dies"]) {
    await scene.run("servers/show", { server });
    await scene.run("servers/log", { server });
    await scene.run("servers/test", { server });
  }
  await scene.run("tools/list", {});
  await scene.run("tools/show", { server: "leaky", tool: "leak" });
  await scene.run("tools/decide", { server: "leaky", tool: "leak", args });
  await scene.run("history/list", {});
  await scene.run("policy/list", {});
  await scene.run("policy/explain", { server: "leaky", tool: "leak", args });
  await scene.run("budget/show", {});
  const snapshot = JSON.stringify(await scene.state.snapshot());
  const failed = await scene.run("calls/tool", { call: "d", server: planted, tool: "x", args: {} }).catch(messageOf);
  expect(failed).toContain("(hidden)");
  const documents = [...scene.sent, snapshot, JSON.stringify(failed)];
  for (const secret of [planted, inHeader, ofEnvironment, ofModel])
    expect(
      documents.filter((document) => document.includes(secret)).map((document) => around(document, secret)),
      secret,
    ).toEqual([]);
  // Nor in the base64 of a file, in raw messages and in recordings.
  const decoded = documents.flatMap((document) =>
    [...document.matchAll(/[\w+/-]{16,}={0,2}/g)].map(([each]) => Buffer.from(each, "base64").toString()),
  );
  expect(decoded.filter((text) => text.includes("a file with")).length).toBeGreaterThanOrEqual(3);
  expect(decoded.filter((text) => text.includes(planted))).toEqual([]);
});

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "";
}

function around(document: string, secret: string): string {
  const at = document.indexOf(secret);
  return document.slice(Math.max(0, at - 200), at + 60);
}

test("a question's arguments are complete but for secrets, and their digest is that of the exact arguments", async () => {
  await using scene = await consoleScene({
    servers: { good: { ...stdioServer("well-behaved"), env: { API_TOKEN: planted } } },
  });
  const client = await scene.client();
  const { tools } = (await client.request("tools/list", {})) as { tools: { name: string }[] };
  const name = tools.map((tool) => tool.name).find((each) => each.includes("echo")) ?? "";
  const calling = client.request("tools/call", { name, arguments: { text: `a ${planted} b` } });
  const { question } = await scene.event(ofType("question"));
  expect(question).toMatchObject({ args: { text: "a (hidden) b" } });
  await scene.run("questions/answer", { id: question.id, answer: { kind: "request", choice: "once" } });
  expect(JSON.stringify(await calling)).toContain(planted);
});

test("texts of a hostile server arrive as they are, and neither break a document nor a later command", async () => {
  await using folder = await temporaryFolder();
  const nasty = `<img src=x onerror=alert(1)>\u202e\u0000\u001b[31m${"\u{1f600}"}\ud800`;
  const tools = ["__proto__", "constructor", nasty, "a".repeat(5000)].map((name) => ({
    name,
    title: nasty,
    description: nasty.repeat(3000),
    inputSchema: { type: "object", properties: { [nasty]: { type: "string", description: nasty } } },
    annotations: { title: nasty, ["__proto__"]: true },
  }));
  await folder.write("tools.json", tools);
  await using scene = await consoleScene({
    servers: { evil: stdioServer("catalog", join(folder.path, "tools.json")) },
  });
  await scene.host.start({ servers: ["evil"] });
  const { tools: rows } = await scene.run("tools/list", {});
  expect(rows.map(({ tool }) => tool)).toEqual(expect.arrayContaining(["__proto__", "constructor"]));
  for (const { server, tool, description } of rows) {
    expect(description.length).toBeLessThanOrEqual(20_000);
    await scene.run("tools/show", { server, tool });
    await scene.run("tools/decide", { server, tool, args: { [nasty]: 7 } });
    await scene.run("calls/tool", { call: `call ${tool.slice(0, 20)}`, server, tool, args: {} });
  }
  await scene.event(ofType("call", ({ call }) => call.name === "__proto__" && call.endedAt !== undefined));
  for (const document of scene.sent) expect(() => JSON.parse(document)).not.toThrow();
  expect(Object.prototype).not.toHaveProperty("polluted");
});

test("results and messages are kept within a number of bytes", () => {
  const kept = new KeptResults(10_000);
  for (let at = 0; at < 100; at += 1) kept.add(`call ${at}`, { content: [{ type: "text", text: "x".repeat(1000) }] });
  expect(kept.bytes).toBeLessThanOrEqual(10_000);
  expect(kept.show("call 99")?.display).toHaveLength(1000);
  expect(kept.show("call 0")).toBeUndefined();
  kept.add("huge", { content: [{ type: "text", text: "x".repeat(20_000) }] });
  expect(kept.show("huge")).toBeUndefined();
  kept.add("again", { a: 1 });
  kept.add("again", { a: 1 });
  kept.remove("again");
  for (let at = 0; at < 100; at += 1) kept.remove(`call ${at}`);
  expect(kept.bytes).toBe(0);
});

test("a server that floods its stderr neither fills the stream nor stops the others", async () => {
  await using scene = await consoleScene({
    servers: { loud: programServer("flood"), good: stdioServer("well-behaved") },
  });
  await scene.host.call("loud", "echo", { text: "go" });
  await until(() => scene.events.filter(ofType("log")).length >= 100);
  await scene.run("calls/tool", { call: "c", server: "good", tool: "echo", args: { text: "hello" } });
  await scene.event(ofType("call", ({ call }) => call.id === "c" && call.state === "ok"));
  await scene.run("servers/stop", { servers: ["loud"] });
  await scene.event(
    ofType("server", ({ server }) => server.name === "loud" && server.status === "disconnected" && server.isCached),
  );
  for (const { line } of scene.events.filter(ofType("log"))) expect(line.length).toBeLessThanOrEqual(4001);
});

test("settings that change while the console is open arrive as servers; a replaced server keeps its usage", async () => {
  await using scene = await consoleScene({
    servers: { good: stdioServer("well-behaved"), old: stdioServer("nothing") },
  });
  await scene.host.call("good", "echo", { text: "one" });
  await scene.event(ofType("server", ({ server }) => server.name === "good" && server.calls === 1));
  await scene.setSettings({
    mcpServers: {
      good: { ...stdioServer("well-behaved"), env: { MODE: "other" } },
      fresh: stdioServer("well-behaved"),
    },
  });
  const { servers } = await scene.event(
    ofType("servers", ({ servers: rows }) => rows.some(({ name }) => name === "fresh")),
  );
  expect(servers.map(({ name }) => name)).toEqual(["good", "fresh", "demo"]);
  expect(servers[0]).toMatchObject({ calls: 1 });
  await scene.setSettings({ mcpServers: { good: stdioServer("well-behaved"), odd: { command: 5 } } });
  await scene.event(ofType("about", ({ about }) => about.problems.some((problem) => problem.includes("command"))));
});

test("after the state is closed, the host does no work for it", async () => {
  await using scene = await consoleScene({ servers: { good: stdioServer("well-behaved") } });
  await scene.host.call("good", "echo", { text: "one" });
  await scene.state[Symbol.asyncDispose]();
  const before = scene.events.length;
  await scene.host.call("good", "echo", { text: "two" });
  expect(scene.events.length).toBe(before);
});
