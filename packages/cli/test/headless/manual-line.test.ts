import { HostError } from "@fairlead/core/errors";
import type { ServerState } from "@fairlead/core/events";
import type { Host } from "@fairlead/core/host";
import type { ConversationTool } from "@fairlead/core/turn/conversation";
import { describe, expect, test } from "vitest";
import { readManualLine, serversOf, serversOfCalls } from "../../src/headless/manual-line.ts";
import { writtenOutput } from "../support/written-output.ts";

const tool = (server: string, serverToolName: string, name = serverToolName): ConversationTool => ({
  name,
  server,
  serverToolName,
  description: "",
  enabled: true,
});
const inputSchema = { type: "object", properties: { n: { type: "integer" }, text: { type: "string" } } };
const tools = [tool("a", "read"), tool("b", "read", "b__read"), tool("b", "other"), tool("c", "count")];
const states = [
  { name: "a", since: 0, status: "connected" },
  { name: "b", since: 0, status: "disconnected", reason: "lazy" },
  { name: "c", since: 0, status: "connected" },
  { name: "down", since: 0, status: "disconnected", reason: "server_exited", message: "it exited", next: "look" },
  { name: "late", since: 0, status: "disconnected", reason: "lazy" },
] as unknown as readonly ServerState[];
const cached = new Set(["a", "b", "c", "late"]);
const host = {
  states: () => states,
  // No rule denies anything.
  explain: async () => ({ isDeniedByName: false }),
  catalog: (name: string) =>
    cached.has(name)
      ? {
          tools: [
            { name: "other", inputSchema: {} },
            { name: "read", inputSchema },
            { name: "count", inputSchema },
          ],
        }
      : undefined,
} as unknown as Host;

/** The call that the line stands for, or the code, message and next step of the error. */
async function read(line: string, from: readonly ConversationTool[] = tools): Promise<unknown> {
  try {
    return await readManualLine(line, { host, tools: from }, writtenOutput().context);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return [error.code, error.message, error.next];
  }
}

describe("one line is one call", () => {
  test.each<[line: string, call: { readonly name: string; readonly args: object }]>([
    ["a.read", { name: "read", args: {} }],
    ["read n=5", { name: "read", args: { n: 5 } }],
    ["b.read text=5 n=5", { name: "b__read", args: { text: "5", n: 5 } }],
    ["b__read n=5", { name: "b__read", args: { n: 5 } }],
    ["call c.count n=1", { name: "count", args: { n: 1 } }],
    ["fairlead  call  c.count n=1", { name: "count", args: { n: 1 } }],
    ['c.count(n: 2, text: "a b")', { name: "count", args: { n: 2, text: "a b" } }],
    ["c.count(2)", { name: "count", args: { n: 2 } }],
    ['c.count {"n": 3, "text": "a b"}', { name: "count", args: { n: 3, text: "a b" } }],
    ["c.count text=f(x)", { name: "count", args: { text: "f(x)" } }],
    ["c.count 'text=a b'", { name: "count", args: { text: "a b" } }],
    ['c.count text="a\nb"', { name: "count", args: { text: "a\nb" } }],
    ["b.other n=5", { name: "other", args: { n: "5" } }],
  ])("%j", async (line, call) => {
    expect(await read(line)).toEqual(call);
  });

  test.each<[line: string, error: readonly (string | undefined)[]]>([
    [
      "a.raed",
      ["tool_unknown", '"a" has no tool "raed" in this conversation; did you mean "read"?', "fairlead tools a"],
    ],
    ["late.read", ["tool_unknown", '"late" has no tool "read" in this conversation', "fairlead tools late"]],
    ["c.read", ["tool_unknown", '"c" has no tool "read" in this conversation', "fairlead tools c"]],
    ["nothing", ["usage", '"nothing" is not of the form server.tool', "fairlead tools"]],
    ["", ["usage", '"" is not of the form server.tool', "fairlead tools"]],
    ['c.count text="a\nb', ["usage", 'the quote " is not closed', 'add " after the value']],
    ["c.count text='a\nb", ["usage", "the quote ' is not closed", "add ' after the value"]],
    ["c.count n=x", ["arguments_invalid", 'n must be an integer, not "x"', undefined]],
    ["c.count {n}", ["usage", '"{n}" is not an argument', "write key=value, key:=json, or --args JSON"]],
  ])("%j is a mistake", async (line, error) => {
    expect(await read(line)).toEqual(error);
  });

  test("a server that is not connected says why", async () => {
    expect(await read("down.read")).toEqual(["server_exited", expect.stringContaining("it exited"), "look"]);
  });

  test("a bare name is refused while an earlier server may have it", async () => {
    const from = [tool("late", "read")];
    expect(await read("read", from)).toEqual([
      "usage",
      '"read" is ambiguous: "down" comes first in your settings, is not connected, and may have a tool of this name',
      "fairlead call late.read …",
    ]);
  });
});

describe("the turn waits for", () => {
  const named = (text: string): Promise<unknown> => serversOfCalls(text, { host, tools });
  test.each<[text: string, servers: readonly string[] | undefined]>([
    ["", []],
    ["a.read\nb.read\na.other", ["a", "b"]],
    ["b__read n=1\ncall c.count n=1", ["b", "c"]],
    ["read", ["a"]],
    ['c.count(text: "x")', ["c"]],
    ["down.x", ["down"]],
    ["a.read\nnothing", undefined],
    ["a.read\nunknown.read", undefined],
    ["c.count(", undefined],
  ])("the servers of %j", async (text, servers) => {
    expect(await named(text)).toEqual(servers);
  });
});

test("servers with tools come first, then the host's other servers", () => {
  expect(serversOf([tool("c", "x"), tool("a", "y"), tool("c", "z")], host)).toEqual([
    { name: "c", tools: ["x", "z"] },
    { name: "a", tools: ["y"] },
    { name: "b", tools: [] },
    { name: "down", tools: [] },
    { name: "late", tools: [] },
  ]);
  expect(serversOf([tool("c", "x")])).toEqual([{ name: "c", tools: ["x"] }]);
});
