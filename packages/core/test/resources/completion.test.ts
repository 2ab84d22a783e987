import { type JsonObject, WireError } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { createDemoSession } from "../../src/demo/session.ts";
import { type CompletionRequest, completeArgument } from "../../src/resources/completion.ts";
import { Connection } from "../../src/server/connection.ts";
import { scriptedSession } from "../server/scripted-session.ts";

async function connected(open: () => ReturnType<typeof createDemoSession>): Promise<Connection> {
  const client = new Connection({
    definition: { name: "demo", excludeTools: [] },
    connectTimeout: 1000,
    open: async () => open(),
  });
  await client.connect();
  return client;
}

const teach = { kind: "prompt", server: "demo", prompt: "teach" } as const;
const anything: CompletionRequest = { of: teach, name: "knot", value: "b" };

describe("the demo server completes", () => {
  test.each<[string, CompletionRequest, readonly string[]]>([
    ["an argument of a prompt", { of: teach, name: "audience", value: "s" }, ["sailor"]],
    [
      "a variable of a template",
      { of: { kind: "template", server: "demo", uriTemplate: "demo://knots/{name}" }, name: "name", value: "bow" },
      ["bowline"],
    ],
    ["nothing where there is nothing", { of: teach, name: "zebra", value: "" }, []],
  ])("%s", async (_, request, expected) => {
    const client = await connected(createDemoSession);
    expect(await completeArgument(request, { server: { ready: async () => client } })).toEqual(expected);
  });
});

async function answered(completion: unknown, capabilities: JsonObject = { completions: {} }) {
  const asked: JsonObject[] = [];
  const session = scriptedSession({
    capabilities,
    answers: {
      "completion/complete"(params) {
        asked.push(params);
        return completion instanceof WireError ? completion : { completion };
      },
    },
  });
  const client = await connected(() => session);
  return { asked, server: { ready: async () => client } };
}

test("what is given already goes with the question", async () => {
  const { asked, server } = await answered({ values: ["x"] });
  await completeArgument({ ...anything, given: { audience: "child" } }, { server });
  await completeArgument(anything, { server });
  const question = { ref: { type: "ref/prompt", name: "teach" }, argument: { name: "knot", value: "b" } };
  expect(asked).toEqual([{ ...question, context: { arguments: { audience: "child" } } }, question]);
});

test("a server that does not offer it is not asked, nor one about a text of more than 10 000 characters", async () => {
  const silent = await answered({ values: ["x"] }, { tools: {} });
  expect(await completeArgument(anything, silent)).toEqual([]);
  const other = await answered({ values: ["x"] });
  expect(await completeArgument({ ...anything, value: "a".repeat(10_001) }, other)).toEqual([]);
  expect([...silent.asked, ...other.asked]).toEqual([]);
  expect(await completeArgument({ ...anything, value: "a".repeat(10_000) }, other)).toEqual(["x"]);
});

test.each<[string, unknown, readonly string[]]>([
  [
    "not without end",
    { values: Array.from({ length: 5000 }, (_, at) => `v${at}`) },
    Array.from({ length: 100 }, (_, at) => `v${at}`),
  ],
  ["once", { values: ["a", "b", "a"] }, ["a", "b"]],
  ["plain", { values: ["ok", "", "a\u202eb", "\u001b[2J", "line\nbreak", "x".repeat(1001), 7, null] }, ["ok"]],
  ["up to a length", { values: ["x".repeat(1000)] }, ["x".repeat(1000)]],
  ["or none, whatever comes", "nonsense", []],
  ["or none, if it is refused", new WireError("rpc", "no", { rpc: { code: -32602 } }), []],
])("values are taken %s", async (_, completion, expected) => {
  expect(await completeArgument(anything, await answered(completion))).toEqual(expected);
});

test("who types on does not wait", async () => {
  const stop = new AbortController();
  const client = await connected(() => scriptedSession({ capabilities: { completions: {} } }));
  const waiting = completeArgument(anything, { server: { ready: async () => client }, signal: stop.signal });
  stop.abort();
  await expect(waiting).rejects.toMatchObject({ code: "cancelled" });
});

test("a server that cannot be reached completes nothing", async () => {
  const ready = () => Promise.reject(new Error("unreachable"));
  expect(await completeArgument(anything, { server: { ready } })).toEqual([]);
});
