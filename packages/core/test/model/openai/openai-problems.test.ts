import { expect, test } from "vitest";
import { type OpenaiProblem, toOpenaiProblem, toOpenaiRejection } from "../../../src/model/openai/openai-failure.ts";

const problem = (status: number, body: unknown, retryAfter?: string): OpenaiProblem => {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return toOpenaiProblem({ status, body: text, ...(retryAfter !== undefined && { retryAfter }) }, 0);
};

test.each<[number, unknown, Partial<OpenaiProblem>]>([
  [400, { error: { message: "m", code: "c", type: "t", param: "p" } }, { message: "m", code: "c t", param: "p" }],
  [400, { error: { message: "m", type: "t" } }, { message: "m", code: " t" }],
  [400, { error: { message: "m", code: "c" } }, { message: "m", code: "c " }],
  [400, { message: "m", error: "e", detail: "d" }, { message: "m" }],
  [400, { error: "e", detail: "d" }, { message: "e" }],
  [400, { detail: "d" }, { message: "d" }],
  [400, " <h1>no</h1> ", { message: "<h1>no</h1>" }],
  [400, "[]", { message: "[]" }],
])("the client reads a refusal with the status %j and the body %j", (status, body, expected) => {
  const read = { kind: "other", status, message: "", param: "", code: " ", isSpent: false, ...expected };
  expect(problem(status, body)).toEqual(read);
});

const said = (message: string) => ({ error: { message } });

test.each<[OpenaiProblem["kind"], number, unknown]>([
  ["no_functions", 400, said("x does not support tools")],
  ["no_functions", 400, said("x does not support functions")],
  ["no_functions", 404, said("x does not support function calling")],
  ["other", 400, said('x: "does not support tools"')],
  ["too_many_functions", 400, said("Invalid 'tools': array too long")],
  ["too_many_functions", 400, said("too many tools")],
  ["too_many_functions", 400, said("too many functions")],
  ["key", 401, said("x")],
  ["key", 403, said("x")],
  ["other", 402, said("x")],
  ["model_unknown", 404, said("x")],
  ["quota", 429, said("x")],
  ["too_long", 413, said("x")],
  ["too_long", 400, { error: { message: "x", code: "context_length_exceeded" } }],
  ["too_long", 400, { error: { message: "x", type: "exceed_context_size_error" } }],
  ["too_long", 400, said("the context length is 5")],
  ["too_long", 400, said("This model's maximum context")],
  ["too_long", 500, said("too many tokens")],
  ["other", 500, said("bad grammar")],
  ["other", 501, said("bad schema")],
  ["unavailable", 500, said("x")],
  ["unavailable", 503, said("x")],
  ["other", 499, said("x")],
])("a refusal is of the kind %s: %j %j", (kind, status, body) => {
  expect(problem(status, body).kind).toBe(kind);
});

test("a refusal for insufficient quota is marked as spent, and its pause is read in seconds", () => {
  const body = { error: { message: "m", code: "insufficient_quota" } };
  expect(problem(429, body, "3")).toEqual({
    kind: "quota",
    status: 429,
    message: "m",
    param: "",
    code: "insufficient_quota ",
    afterMs: 3_000,
    isSpent: true,
  });
});

const names = ["a", "b", "a"];

test.each<[string, string, number | undefined]>([
  ["m", "tools[0]", 0],
  ["m", "tools.1.function", 1],
  ["m", "functions.[2]", 2],
  ["m", "tools[3]", undefined],
  ["m", "x.tools[0]", undefined],
  ["Invalid schema for function 'a': x", "", 0],
  ["Invalid schema for function `b`", "", 1],
  ["Invalid schema for function 'c'", "", undefined],
  ["Note: Invalid schema for function 'a'", "", undefined],
])("a refusal with the message %j and the parameter %j names the tool at %j", (message, param, declaration) => {
  expect(toOpenaiRejection(problem(400, { error: { message, param } }), names)).toEqual({
    type: "rejected",
    message,
    ...(declaration !== undefined && { declaration }),
  });
});

test.each([
  ["another status", 409, { error: { message: "m" } }],
  ["another kind", 400, { error: { message: "too many tools" } }],
  ["the messages", 400, { error: { message: "m", param: "messages[0]" } }],
  ["the prompt", 400, { error: { message: "m", param: "prompt" } }],
  ["filtered content", 400, { error: { message: "m", code: "content_filter" } }],
])("a refusal because of %s is not about a tool", (_what, status, body) => {
  expect(toOpenaiRejection(problem(status, body), names)).toBeUndefined();
});
