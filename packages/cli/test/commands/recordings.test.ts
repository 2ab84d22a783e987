import { readFile } from "node:fs/promises";
import { stdioServer } from "@fairlead/test-servers";
import { listenHttp, serveClient } from "@fairlead/wire/serve";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Machine, machine, userFile } from "../support/machine.ts";

const secret = "seeded-secret-0123456789";
/** Of a server that is not connected. */
const otherSecret = "seeded-other-9876543210";
let here: Machine;

beforeAll(async () => {
  const server = { ...stdioServer("well-behaved"), env: { API_TOKEN: secret } };
  here = await machine({
    [userFile]: {
      mcpServers: {
        shop: server,
        vault: server,
        watched: stdioServer("watched", "modern"),
        never: { httpUrl: "http://127.0.0.1:9/mcp", headers: { "X-Api-Key": otherSecret } },
      },
      fairlead: { servers: { vault: { hideResults: true } } },
    },
  });
});
afterAll(() => here[Symbol.asyncDispose]());

/** The messages of a client that calls `echo` with each text. */
function session(...texts: readonly string[]): string {
  const request = (id: number, method: string, params: object) => ({ jsonrpc: "2.0", id, method, params });
  const messages = [
    request(1, "initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "t", version: "1" },
    }),
    { jsonrpc: "2.0", method: "notifications/initialized" },
    request(2, "tools/list", {}),
    ...texts.map((text, at) => request(10 + at, "tools/call", { name: "echo", arguments: { text } })),
  ];
  return messages.map((message) => `${JSON.stringify(message)}\n`).join("");
}

const answersOf = (stdout: string) =>
  new Map(
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: number; result?: unknown; error?: { message: string } })
      .map((message) => [message.id, message.error?.message ?? message.result]),
  );

describe("fairlead record", () => {
  test("passes messages on unchanged, and keeps them without secrets", async () => {
    const stdin = session("hi", `the key is ${secret}`, `another is ${otherSecret}`);
    const recorded = await here.runWith({ stdin }, "record", "shop", "-o", "shop.jsonl");
    expect(recorded).toMatchObject({ code: 0, stderr: expect.stringContaining("recorded 11 messages") as string });
    const answers = answersOf(recorded.stdout);
    expect(answers.get(11)).toEqual({ content: [{ type: "text", text: `the key is ${secret}` }] });
    const file = await here.read("project/shop.jsonl");
    expect(file).not.toContain(secret);
    expect(file).not.toContain(otherSecret);
    expect(file).toContain("the key is (hidden)");

    const served = await here.runWith({ stdin }, "serve-recording", "shop.jsonl");
    expect(served).toMatchObject({ code: 0, stderr: "" });
    const hidden = (text: string) => ({ content: [{ type: "text", text: `${text} (hidden)` }] });
    const expected = new Map([...answers, [11, hidden("the key is")], [12, hidden("another is")]]);
    expect(answersOf(served.stdout)).toEqual(expected);

    const other = await here.runWith({ stdin: session("never said") }, "serve-recording", "shop.jsonl");
    expect(other.code).toBe(1);
    expect(answersOf(other.stdout).get(10)).toContain('echo with {"text":"never said"} was never recorded');
    expect(other.stderr).toContain("1 request had no recorded answer");

    const loose = await here.runWith({ stdin: session("never said") }, "serve-recording", "shop.jsonl", "--loose");
    expect(loose.code).toBe(0);
    expect(answersOf(loose.stdout).get(10)).toEqual(answers.get(10));
  });

  test("asks the rules about calls, and the history has them", async () => {
    await here.runWith({ stdin: session("hi") }, "record", "shop", "-o", "allowed.jsonl");
    const { entries } = JSON.parse((await here.run("history", "--json")).stdout) as {
      entries: readonly { readonly tool: string; readonly outcome: string }[];
    };
    expect(entries.map(({ tool, outcome }) => `${tool} ${outcome}`)).toContain("echo ok");
    expect(entries.map(({ outcome }) => outcome)).not.toContain("tool_error");
    expect(await here.run("policy", "deny", "shop.echo")).toMatchObject({ code: 0 });
    const { stdout } = await here.runWith({ stdin: session("hi") }, "record", "shop", "-o", "denied.jsonl");
    expect(answersOf(stdout).get(10)).toContain("shop.echo denied");
    expect(await here.read("project/denied.jsonl")).not.toContain("tools/call");
    expect((await here.run("history", "--denied")).stdout).toContain("echo");
    expect(await here.run("policy", "remove", "shop.echo")).toMatchObject({ code: 0 });
  });

  test("refuses completions of denied prompts and subscriptions to denied resources", async () => {
    expect(await here.run("policy", "deny", "--kind", "resource", "watched.watched://it")).toMatchObject({ code: 0 });
    expect(await here.run("policy", "deny", "--kind", "prompt", "watched.secret")).toMatchObject({ code: 0 });
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const ask = (id: number, method: string, params: object) =>
      `${JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta } })}\n`;
    const stdin = [
      ask(1, "server/discover", {}),
      ask(2, "subscriptions/listen", { notifications: { resourceSubscriptions: ["watched://it"] } }),
      ask(3, "completion/complete", {
        ref: { type: "ref/prompt", name: "secret" },
        argument: { name: "a", value: "" },
      }),
      ask(4, "tools/call", { name: "touch" }),
    ].join("");
    const { stdout } = await here.runWith({ stdin }, "record", "watched", "-o", "watched.jsonl");
    expect(answersOf(stdout).get(3)).toContain('prompt secret of "watched" denied');
    expect(stdout).not.toContain("watched://it");
    const recorded = await here.read("project/watched.jsonl");
    expect(recorded).toContain("subscriptions/listen");
    expect(recorded).not.toMatch(/watched:\/\/it|completion\/complete/);
    expect((await here.run("history", "--denied")).stdout).toContain("watched://it");
    expect(await here.run("policy", "remove", "--kind", "resource", "watched.watched://it")).toMatchObject({ code: 0 });
    expect(await here.run("policy", "remove", "--kind", "prompt", "watched.secret")).toMatchObject({ code: 0 });
  });

  test("hides the results of a server with hideResults", async () => {
    const { stdout } = await here.runWith({ stdin: session("salary") }, "record", "vault", "-o", "vault.jsonl");
    expect(answersOf(stdout).get(10)).toEqual({ content: [{ type: "text", text: "salary" }] });
    const lines = (await here.read("project/vault.jsonl")).split("\n");
    expect(lines.filter((line) => line.includes('"server"') && line.includes("salary"))).toEqual([]);
  });

  test("refuses a server that there is not, and a file that is not a recording", async () => {
    expect(await here.run("record", "nothing")).toMatchObject({ code: 2 });
    await here.write("project/mine.txt", "mine");
    const { code, stderr } = await here.runWith({ stdin: session() }, "record", "shop", "-o", "mine.txt");
    expect(code).toBe(2);
    expect(stderr).toContain("is not a recording, so Fairlead does not replace it");
  });
});

test("--record keeps the messages of any command, and serve-recording answers with them", async () => {
  const called = await here.run("call", "shop.echo", "text=kept", "--record", "kept");
  expect(called).toMatchObject({ code: 0, stdout: "kept\n" });
  expect(called.stderr).toMatch(/recorded \d+ messages in .*kept[/\\]shop\.jsonl/);
  const served = await here.runWith({ stdin: session("kept") }, "serve-recording", "kept/shop.jsonl");
  expect(served.code).toBe(0);
  expect(answersOf(served.stdout).get(10)).toEqual({ content: [{ type: "text", text: "kept" }] });
});

test("a recording has no value of a header, also if the server repeats it", async () => {
  const header = "seeded-header-0123456789";
  const inputSchema = { type: "object", properties: { text: { type: "string" } } };
  const answers: Readonly<Record<string, object>> = {
    initialize: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "web", version: "1" },
    },
    "tools/list": { tools: [{ name: "echo", description: `Knows ${header}.`, inputSchema }] },
    "tools/call": { content: [{ type: "text", text: `you sent ${header}` }] },
  };
  const listener = await listenHttp({
    eras: ["legacy"],
    onClient: (open) => void serveClient(open, () => ({ request: async (method) => ({ ...answers[method] }) })),
  });
  const called = await here.run(
    "call",
    listener.url,
    "echo",
    "text=hi",
    "-H",
    `X-Api-Key: ${header}`,
    "--record",
    "web",
  );
  expect(called).toMatchObject({ code: 0, stdout: `you sent ${header}\n` });
  const [, file = ""] = /in (.*\.jsonl)/.exec(called.stderr) ?? [];
  const recording = await readFile(file, "utf8");
  expect(recording).toContain("you sent (hidden)");
  expect(recording).not.toContain(header);
  await listener.close();
});

test("a recording that is not there is not_found, and one without a handshake cannot be served", async () => {
  expect(await here.run("serve-recording", "no.jsonl")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("the file does not exist") as string,
  });
  await here.write(
    "project/empty.jsonl",
    '{"v":1,"kind":"fairlead.recording","server":"shop","recordedAt":"2026-01-01T00:00:00Z"}\n',
  );
  expect(await here.run("serve-recording", "empty.jsonl")).toMatchObject({ code: 1 });
  expect(await here.run("serve-recording", "empty.jsonl", "--port", "1")).toMatchObject({ code: 2 });
});
