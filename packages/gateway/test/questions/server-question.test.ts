import type { JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import type { ClientCall } from "../../src/questions/client-call.ts";
import {
  askClient,
  canElicit,
  labelledRequests,
  lackingFor,
  withElicitationId,
} from "../../src/questions/server-question.ts";

const { signal } = new AbortController();
const elicit = "elicitation/create";

test.each<[string, JsonObject, JsonObject, JsonObject | undefined]>([
  [elicit, {}, {}, { elicitation: {} }],
  [elicit, {}, { elicitation: {} }, undefined],
  [elicit, {}, { elicitation: { form: {} } }, undefined],
  [elicit, {}, { elicitation: { url: {} } }, { elicitation: {} }],
  [elicit, {}, { elicitation: { form: {}, url: {} } }, undefined],
  [elicit, { mode: "url" }, {}, { elicitation: { url: {} } }],
  [elicit, { mode: "url" }, { elicitation: {} }, { elicitation: { url: {} } }],
  [elicit, { mode: "url" }, { elicitation: { url: {} } }, undefined],
  ["sampling/createMessage", {}, {}, { sampling: {} }],
  ["sampling/createMessage", {}, { sampling: {} }, undefined],
  ["roots/list", {}, {}, { roots: {} }],
  ["roots/list", {}, { roots: {} }, undefined],
  ["other/method", {}, { other: {} }, {}],
])("for %s with %j, a client that declares %j lacks %j", (method, params, capabilities, lacking) => {
  expect(lackingFor(method, params, capabilities)).toEqual(lacking);
});

test("without a declaration, a client supports no elicitation at all", () => {
  expect(canElicit({})).toEqual({ form: false, url: false });
  expect(canElicit({ elicitation: {} })).toEqual({ form: true, url: false });
});

/** A client that answers every question with the question itself. */
function echo(capabilities: JsonObject): ClientCall {
  const notify = (): void => {};
  const ask = async (method: string, params: JsonObject): Promise<JsonObject> => ({ method, params });
  return { era: "legacy", id: 1, capabilities, logLevel: undefined, signal, notify, ask };
}

test("the client is asked with the server's name, and without the server's progress token", async () => {
  const client = echo({ elicitation: {}, sampling: {} });
  const named = { server: "files", isNamed: true };
  const asked = (method: string, params: JsonObject): Promise<JsonObject> =>
    askClient(client, named, { method, params }, signal);
  expect(await asked(elicit, { message: "Who?", _meta: { progressToken: 1 } })).toEqual({
    method: elicit,
    params: { message: 'The server "files" asks: Who?' },
  });
  expect(await asked(elicit, {})).toEqual({ method: elicit, params: { message: 'The server "files" asks: ' } });
  const sampling = { message: "a", _meta: { progressToken: 1, own: 2 } };
  expect(await asked("sampling/createMessage", sampling)).toEqual({
    method: "sampling/createMessage",
    params: { message: "a", _meta: { own: 2 } },
  });
});

test("a client of one server reads its questions unchanged, unless they could seem to come from Fairlead", () => {
  const request = (message: string) => ({ method: elicit, params: { message } });
  const requests = { a: request("Who?"), b: request("FAIRLEAD: ok?"), c: { method: "roots/list", params: {} }, d: 1 };
  expect(labelledRequests(requests, "files", false)).toEqual({
    ...requests,
    b: request('The server "files" asks: FAIRLEAD: ok?'),
  });
  expect(labelledRequests(requests, "files", true)).toEqual({
    ...requests,
    a: request('The server "files" asks: Who?'),
    b: request('The server "files" asks: FAIRLEAD: ok?'),
  });
  expect(labelledRequests({ a: { method: elicit } }, "files", true)).toEqual({ a: { method: elicit } });
});

test.each([
  [elicit, "the client cannot answer elicitation/create: the client does not declare elicitation"],
  ["roots/list", "the client cannot answer roots/list: the client does not declare roots"],
  ["x/y", "the client cannot answer x/y: the gateway does not support this kind of question"],
])("a client that cannot answer %s is not asked", async (method, message) => {
  const named = { server: "files", isNamed: true };
  await expect(askClient(echo({}), named, { method, params: {} }, signal)).rejects.toThrow(new Error(message));
});

test("a URL elicitation without an id gets one", () => {
  const made: string[] = [];
  const given = withElicitationId(elicit, { mode: "url", url: "https://a.example" }, made);
  expect(given).toEqual({ mode: "url", url: "https://a.example", elicitationId: made[0] });
  expect(made).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  for (const [method, params] of [
    [elicit, { mode: "form" }],
    [elicit, { mode: "url", elicitationId: "own" }],
    ["roots/list", { mode: "url" }],
  ] as const)
    expect(withElicitationId(method, params, made)).toBe(params);
  expect(made).toHaveLength(1);
  expect(withElicitationId(elicit, { mode: "url" }, made)).toEqual({ mode: "url", elicitationId: made[1] });
});
