import { stdioServer } from "@fairlead/test-servers";
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
