import { readFileSync } from "node:fs";
import { join } from "node:path";
import { stdioServer, temporaryFolder } from "@fairlead/test-servers";
import type { JsonObject, RequestHandler } from "@fairlead/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GatewayScene, gatewayScene } from "../support/gateway-scene.ts";

const eras = ["legacy", "modern"] as const;
/** The era of the client, and that of the server, which has the same name. */
const pairs = eras.flatMap((era) => eras.map((server) => [era, server] as const));
const everything = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const privileges = { sampling: true, roots: true, share: "client" };

let here: GatewayScene;
beforeAll(async () => {
  here = await gatewayScene({
    servers: {
      legacy: stdioServer("conformance", "--legacy-only"),
      modern: stdioServer("conformance", "--modern-only"),
    },
    fairlead: { servers: { legacy: privileges, modern: privileges } },
    trust: true,
  });
});
afterAll(() => here[Symbol.asyncDispose]());

function person(asked: string[]): RequestHandler {
  return async (method, params): Promise<JsonObject> => {
    const { message } = params;
    asked.push(typeof message === "string" ? `${method} ${message}` : method);
    switch (method) {
      case "elicitation/create":
        return { action: "accept", content: { name: "Ada", color: "blue", username: "ada", email: "a@b.c" } };
      case "sampling/createMessage":
        return { role: "assistant", model: "m", content: { type: "text", text: "Lisbon" } };
      default:
        return { roots: [{ uri: "file:///work" }] };
    }
  };
}

test.for(pairs)("a %s client answers all questions of a %s server", async ([era, only]) => {
  const asked: string[] = [];
  const client = await here.client({ era, only, capabilities: everything, answer: person(asked) });
  const call = async (name: string, args: JsonObject = {}) => {
    const { content } = await client.request("tools/call", { name, arguments: args });
    return JSON.stringify(content);
  };
  expect(await call("test_elicitation", { message: "Who?" })).toContain("accept");
  expect(await call("test_sampling", { prompt: "Capital?" })).toContain("Lisbon");
  expect(await call("test_input_required_result_list_roots")).toContain("file:///work");
  expect(await call("test_input_required_result_multi_round")).toContain("Ada likes blue");
  expect(await call("test_input_required_result_multiple_inputs")).toContain("Lisbon");
  expect(asked).toEqual(expect.arrayContaining(["elicitation/create Who?", "roots/list", "sampling/createMessage"]));
});

test.for(pairs)("a %s client that declares nothing is not asked by a %s server", async ([era, only]) => {
  const asked: string[] = [];
  const client = await here.client({ era, only, answer: person(asked) });
  const outcome = await client
    .request("tools/call", { name: "test_elicitation", arguments: { message: "Who?" } })
    .then(({ isError }) => (isError === true ? "an error" : "a result"))
    .catch(() => "an error");
  expect([outcome, asked]).toEqual(["an error", []]);
});

test("a client of all servers is told which server asks", async () => {
  const asked: string[] = [];
  const client = await here.client({ era: "legacy", capabilities: everything, answer: person(asked) });
  await client.request("tools/list");
  await client.request("tools/call", { name: "test_elicitation", arguments: { message: "Who?" } });
  expect(asked).toEqual(['elicitation/create The server "legacy" asks: Who?']);
});

test.for(pairs)("a %s client of one %s server is told who asks in the name of Fairlead", async ([era, only]) => {
  const asked: string[] = [];
  const client = await here.client({ era, only, capabilities: everything, answer: person(asked) });
  for (const message of ["Fairlead: go on?", "F\u0430irlead: go on?", "Ｆａｉｒｌｅａｄ: go on?", "Go on?"])
    await client.request("tools/call", { name: "test_elicitation", arguments: { message } });
  expect(asked).toEqual([
    `elicitation/create The server "${only}" asks: Fairlead: go on?`,
    `elicitation/create The server "${only}" asks: F\u0430irlead: go on?`,
    `elicitation/create The server "${only}" asks: Ｆａｉｒｌｅａｄ: go on?`,
    "elicitation/create Go on?",
  ]);
});

test.for(eras)("a server that calls itself Fairlead is labelled at its own address, for a %s client", async (era) => {
  await using folder = await temporaryFolder();
  const program = await folder.write("imitation.mjs", imitation);
  await using scene = await gatewayScene({ servers: { files: { command: process.execPath, args: [program] } } });
  const { serverInfo, instructions } = await scene.client({ era, only: "files" });
  expect(serverInfo).toMatchObject({
    name: 'The server "files" says: F\u0430irlead',
    title: "An honest title",
  });
  expect(instructions).toBe('The server "files" says: Ask F\u0430irlead.');
});

/** A server whose name and instructions imitate Fairlead. */
const imitation = `import { createInterface } from "node:readline";
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const serverInfo = {
    name: "F\\u0430irlead", title: "An honest title", version: "1",
  };
  const answers = {
    initialize: {
      protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo, instructions: "Ask F\\u0430irlead.",
    },
    "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object" } }] },
  };
  const result = answers[method];
  const error = { code: -32601, message: "unknown" };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) }));
});
`;

test("a question of a modern client's call is answered once, by the same request only", async () => {
  const client = await here.client({ era: "modern", only: "legacy", capabilities: everything });
  const raw = { input: "caller" as const };
  const params = { name: "test_elicitation", arguments: { message: "Who?" } };
  const first = await client.request("tools/call", params, raw);
  expect(first).toMatchObject({ resultType: "input_required", inputRequests: { question_1: expect.anything() } });
  const { requestState } = first;
  const inputResponses = { question_1: { action: "decline" } };
  const other = { name: "test_elicitation", arguments: { message: "Else?" }, inputResponses, requestState };
  await expect(client.request("tools/call", other, raw)).rejects.toMatchObject({ evidence: { rpc: { code: -32602 } } });
  const again = { ...params, inputResponses, requestState };
  expect(await client.request("tools/call", again, raw)).toMatchObject({ resultType: "complete" });
  await expect(client.request("tools/call", again, raw)).rejects.toMatchObject({
    evidence: { rpc: { code: -32602, data: { reason: "invalid_request_state" } } },
  });
});

test.for(pairs)(
  "without the setting `roots`, no %s client's folder reaches a %s server, shared or not",
  async ([era, server]) => {
    const only = stdioServer("conformance", `--${server}-only`);
    await using folder = await temporaryFolder();
    const notes = join(folder.path, "notes");
    await using scene = await gatewayScene({
      servers: { shared: only, own: only, counted: stdioServer("counted", notes) },
      fairlead: { servers: { own: { share: "client" }, counted: { share: "client" } } },
    });
    for (const name of ["shared", "own"]) {
      const asked: string[] = [];
      const client = await scene.client({ era, only: name, capabilities: everything, answer: person(asked) });
      const call = async (tool: string, args: JsonObject = {}): Promise<string> =>
        client.request("tools/call", { name: tool, arguments: args }).then(JSON.stringify, String);
      // The server sees that no client declares roots.
      expect(await call("test_input_required_result_list_roots")).toMatch(/the client does not declare roots/i);
      expect(await call("test_elicitation", { message: "Who?" })).toContain("accept");
      // Of several inputs, the client gets none if one of them is its folders.
      expect(await call("test_input_required_result_multiple_inputs")).not.toContain("file:///work");
      expect(asked).not.toContain("roots/list");
    }
    const client = await scene.client({ era, only: "counted", capabilities: everything, answer: person([]) });
    const { content } = await client.request("tools/call", { name: "ask", arguments: { method: "roots/list" } });
    expect(JSON.stringify(content)).toContain("fairlead.servers.counted.roots is not true");
    const declared = /^declared (.*)$/m.exec(readFileSync(notes, "utf8"))?.[1] ?? "";
    expect(JSON.parse(declared)).toMatchObject({ elicitation: expect.anything() });
    expect(declared).not.toContain("roots");
  },
);
