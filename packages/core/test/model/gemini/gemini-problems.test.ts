import { expect, test } from "vitest";
import { type GeminiProblem, toGeminiProblem, toGeminiRejection } from "../../../src/model/gemini/gemini-failure.ts";

const problem = (status: number, error: unknown, retryAfter?: string): GeminiProblem => {
  const body = typeof error === "string" ? error : JSON.stringify({ error });
  return toGeminiProblem({ status, body, ...(retryAfter !== undefined && { retryAfter }) }, 0);
};

test.each<[number, unknown, Partial<GeminiProblem>]>([
  [400, { message: "m" }, { message: "m" }],
  [400, " <h1>no</h1> ", { message: "<h1>no</h1>" }],
  [400, '{"error":"e"}', { message: '{"error":"e"}' }],
  [400, { message: "m", details: "none" }, { message: "m" }],
  [400, { message: "m", details: ["none", { fieldViolations: "none" }] }, { message: "m" }],
  [
    400,
    { message: "m", details: [{ fieldViolations: ["x", { description: "d" }, { field: "f" }, { field: "g" }] }] },
    { message: "m", field: "f" },
  ],
  [503, { message: "m", details: [{ retryDelay: "1.5s" }, { retryDelay: "9s" }] }, { message: "m", afterMs: 1_500 }],
  [503, { message: "m", details: [{ retryDelay: "0.0001s" }] }, { message: "m", afterMs: 1 }],
  [503, { message: "m", details: [{ retryDelay: "soon" }, { retryDelay: 5 }] }, { message: "m" }],
  [
    503,
    { message: "m", details: [{ violations: [{ quotaId: "PerMinute" }, { quotaId: "RequestsPerDay" }] }, {}] },
    { message: "m", isSpent: true },
  ],
  [503, { message: "m", details: [{ violations: [{ quotaId: "PerMinute" }, "PerDay"] }] }, { message: "m" }],
])("the client reads a refusal with the status %j and the error %j", (status, error, expected) => {
  const kind = status === 503 ? "unavailable" : "other";
  expect(problem(status, error)).toEqual({ kind, status, message: "", field: "", isSpent: false, ...expected });
});

test("the pause in the details counts more than the header of the response", () => {
  expect(problem(429, { message: "m", details: [{ retryDelay: "2s" }] }, "9")).toMatchObject({ afterMs: 2_000 });
  expect(problem(429, { message: "m" }, "9")).toMatchObject({ afterMs: 9_000 });
});

const because = (reason: string) => ({ message: "m", details: [{}, { reason }] });

test.each<[GeminiProblem["kind"], number, unknown]>([
  ["key", 401, { message: "m" }],
  ["key", 403, { message: "m" }],
  ["other", 402, { message: "m" }],
  ["key", 400, because("API_KEY_INVALID")],
  ["key", 400, because("API_KEY_SERVICE_BLOCKED")],
  ["other", 400, because("OTHER")],
  ["model_unknown", 404, { message: "m" }],
  ["quota", 429, { message: "m" }],
  ["unavailable", 500, { message: "m" }],
  ["other", 499, { message: "m" }],
  ["too_many_functions", 400, { message: "at most 512 function declarations" }],
  ["too_long", 413, { message: "m" }],
  ["too_long", 400, { message: "The input token count is 5" }],
  ["too_long", 400, { message: "the number of tokens" }],
  ["too_long", 400, { message: "the context window" }],
  ["other", 400, { message: 'schema "token count"' }],
])("a refusal is of the kind %s: %j %j", (kind, status, error) => {
  expect(problem(status, error).kind).toBe(kind);
});

const tools = ["a", "b"].map((name) => ({ name, description: "", parametersJsonSchema: {} }));
const placed = "tools[0].function_declarations";

test.each<[string, string, number | undefined]>([
  ["m", `${placed}[1].name`, 1],
  ["m", `${placed}[2].name`, undefined],
  [`* GenerateContentRequest.${placed}[0].x: bad`, "", 0],
  [`The GenerateContentRequest proto is invalid:\n  * ${placed}[1]`, "", 1],
  [`${placed}[0]`, `${placed}[1]`, 1],
  ["Unable to submit request because `b` functionDeclaration `x` is bad", "", 1],
  ["Unable to submit request because `c` functionDeclaration `x` is bad", "", undefined],
  [`see ${placed}[0]`, "", undefined],
])("a refusal with the message %j and the field %j names the tool at %j", (message, field, declaration) => {
  const error = { message, details: [{ fieldViolations: [{ field }] }] };
  expect(toGeminiRejection(problem(400, error), tools)).toEqual({
    type: "rejected",
    message,
    ...(declaration !== undefined && { declaration }),
  });
});

test.each<[string, number, unknown]>([
  ["another status", 409, { message: "m" }],
  ["another kind", 400, { message: "token count" }],
  ["the contents", 400, { message: "m", details: [{ fieldViolations: [{ field: "contents[0].parts" }] }] }],
  ["the contents in the message", 400, { message: "* GenerateContentRequest.contents[0]: bad" }],
  ["responses", 400, { message: "Please ensure that the number of function response parts is equal" }],
  ["calls", 400, { message: "Please ensure that function call turn comes after a user turn" }],
  ["an image", 400, { message: "Unable to process input image." }],
])("a refusal because of %s is not about a tool", (_what, status, error) => {
  expect(toGeminiRejection(problem(status, error), tools)).toBeUndefined();
});

test("without tools, no refusal is about a tool", () => {
  expect(toGeminiRejection(problem(400, { message: "m" }), [])).toBeUndefined();
});
