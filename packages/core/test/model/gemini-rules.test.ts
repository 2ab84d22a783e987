import { type GeminiSettings, geminiApi, inTurn, says } from "@fairlead/test-servers";
import { GoogleGenAI } from "@google/genai";
import { describe, expect, test } from "vitest";

type Schema = Record<string, unknown>;

const object = (properties: Schema, more: Schema = {}): Schema => ({ type: "object", properties, ...more });
const string = { type: "string" };

async function post(body: object, settings: Partial<GeminiSettings> = {}, path = "v1beta/models"): Promise<unknown> {
  await using api = await geminiApi({ answer: () => says("ok"), hasSignatures: false, ...settings });
  const response = await fetch(`${api.baseUrl}/${path}/gemini-2.5-flash:generateContent`, {
    method: "POST",
    headers: { "x-goog-api-key": "test-key" },
    body: JSON.stringify({ contents: [{ role: "user", parts: [{ text: "hi" }] }], ...body }),
  });
  const answer = (await response.json()) as { error?: { message: string } };
  return answer.error?.message ?? "ok";
}

function declare(...functionDeclarations: object[]): object {
  return { tools: [{ functionDeclarations }] };
}

const fine = { name: "fine", parametersJsonSchema: object({ a: string }) };

describe("of functions", () => {
  const badName = (name: string) => [
    `the name ${name.slice(0, 20)}`,
    declare(fine, { name }),
    expect.stringMatching(
      /^The GenerateContentRequest proto is invalid:\n {2}\* tools\[0\]\.function_declarations\[1\]\.name: \[FIELD_INVALID\] Invalid function name/,
    ),
  ];
  test.for([
    ["every letter", declare({ name: "_aZ0.:-" }), "ok"],
    ["128 characters", declare({ name: "a".repeat(128) }), "ok"],
    badName("a".repeat(129)),
    badName("1a"),
    badName("a b"),
    badName(""),
    ["512 of them", declare(...Array.from({ length: 512 }, (_, index) => ({ name: `f${index}` }))), "ok"],
    [
      "513 of them",
      declare(...Array.from({ length: 513 }, (_, index) => ({ name: `f${index}` }))),
      "The GenerateContentRequest proto is invalid:\n  * tools[0].function_declarations: [FIELD_INVALID] At most 512 function declarations can be specified.",
    ],
    ["one twice", declare(fine, fine), "Duplicate function declaration found: fine"],
    [
      "both forms",
      declare({ ...fine, parameters: object({ a: string }) }),
      expect.stringContaining("mutually exclusive"),
    ],
    [
      "a mode without functions",
      { toolConfig: { functionCallingConfig: { mode: "AUTO" } } },
      "Function calling config is set without function_declarations.",
    ],
  ] as const)("%s", async ([, body, message]) => expect(await post(body as object)).toEqual(message));
});

describe("of parameters as JSON Schema", () => {
  const list = { type: "object", properties: { next: { $ref: "#/$defs/list" } } };
  test.for<readonly [string, Schema, unknown]>([
    [
      "every keyword of the list",
      object({ a: { type: "integer", minimum: 1, maximum: 2, enum: [1, 2], title: "A", format: "int32" } }),
      "ok",
    ],
    ["properties that are named like keywords", object({ $ref: string, const: string, required: string }), "ok"],
    [
      "an unknown keyword",
      object({ a: { ...string, pattern: "x" } }),
      expect.stringMatching(
        /function_declarations\[1\]\.parameters_json_schema\.properties\[a\]: \[FIELD_INVALID\] Unsupported keyword "pattern"/,
      ),
    ],
    [
      "not an object",
      string,
      expect.stringMatching(/`f` functionDeclaration parameters schema should be of type OBJECT/),
    ],
    [
      "no type",
      object({ a: { description: "A." } }),
      expect.stringMatching(
        /`f` functionDeclaration `parameters\.properties\.a` schema didn't specify the schema type field/,
      ),
    ],
    [
      "a true among the values",
      object({ a: { type: "boolean", enum: [true] } }),
      expect.stringMatching(/Only strings and numbers/),
    ],
    [
      "something required that is not there",
      object({ a: string }, { required: ["b"] }),
      "Unable to submit request because required fields ['b'] are not defined in the schema properties",
    ],
    ["a reference", object({ a: { $ref: "#/$defs/a" } }, { $defs: { a: string } }), "ok"],
    [
      "something beside a reference",
      object({ a: { $ref: "#/$defs/a", title: "A" } }, { $defs: { a: string } }),
      expect.stringMatching(/^\$ref 'a' was set alongside unsupported fields/),
    ],
    [
      "a reference to nothing",
      object({ a: { anyOf: [string, { $ref: "#/$defs/b" }] } }),
      "reference to undefined schema at properties.a.anyOf.1",
    ],
    ["a cycle that can end", object({ a: { $ref: "#/$defs/list" } }, { $defs: { list } }), "ok"],
    [
      "a cycle that cannot",
      object({ a: { $ref: "#/$defs/list" } }, { required: ["a"], $defs: { list: { ...list, required: ["next"] } } }),
      "Request contains an invalid argument.",
    ],
  ])("%s", async ([, parametersJsonSchema, message]) =>
    expect(await post(declare(fine, { name: "f", parametersJsonSchema }))).toEqual(message),
  );

  test("how deep it may be can be set, and the function is named", async () => {
    const deep = object({ a: { type: "array", items: object({ b: string }) } });
    const body = declare(fine, { name: "deep", parametersJsonSchema: deep });
    expect(await post(body, { maxDepth: 3 })).toBe("ok");
    expect(await post(body, { maxDepth: 2 })).toBe(
      "FunctionDeclaration 'deep' in the request exceeds the maximum allowed nesting depth.",
    );
  });
});

describe("of parameters in the OpenAPI form", () => {
  const at = "GenerateContentRequest.tools[0].function_declarations[1].parameters";
  test.for<readonly [string, Schema, unknown]>([
    ["as it should be", object({ a: { type: "STRING", enum: ["x"], minLength: 1, nullable: true } }), "ok"],
    [
      "unknown keywords",
      object({ a: string, b: { anyOf: [{ ...string, const: "x" }] } }, { $schema: "x" }),
      "Invalid JSON payload received. Unknown name \"$schema\" at 'tools[0].function_declarations[1].parameters': Cannot find field.\nInvalid JSON payload received. Unknown name \"const\" at 'tools[0].function_declarations[1].parameters.properties[1].value.any_of[0]': Cannot find field.",
    ],
    ["a list of anything", object({ a: { type: "array" } }), `* ${at}.properties[a].items: missing field\n`],
    [
      "an object of anything",
      object({ a: { type: "object" } }),
      `* ${at}.properties[a].properties: should be non-empty for OBJECT type\n`,
    ],
    [
      "numbers to choose from",
      object({ a: { type: "integer", enum: [1] } }),
      `* ${at}.properties[a].enum: only allowed for STRING type\n`,
    ],
    [
      "nothing to choose",
      object({ a: { ...string, enum: ["x", ""] } }),
      `* ${at}.properties[a].enum[1]: cannot be empty\n`,
    ],
    [
      "a format",
      object({ a: { ...string, format: "uri" } }),
      `* ${at}.properties[a].format: only 'enum' and 'date-time' are supported for STRING type\n`,
    ],
    ["a parameter's name", object({ "a-b": string }), `* ${at}.properties[a-b]: Invalid parameter name.\n`],
  ])("%s", async ([, parameters, message]) =>
    expect(await post(declare(fine, { name: "f", parameters }))).toEqual(message),
  );

  test("only Vertex AI wants alternatives to stand alone", async () => {
    const parameters = object({ a: { anyOf: [string], default: "x" } });
    const path = "v1beta1/projects/p/locations/l/publishers/google/models";
    expect(await post(declare({ name: "f", parameters }))).toBe("ok");
    expect(await post(declare({ name: "f", parameters }), {}, path)).toMatch(
      /`parameters\.properties\.a` schema specified other fields alongside any_of/,
    );
  });
});

describe("of conversations", () => {
  const said = { role: "user", parts: [{ text: "hi" }] };
  const call = (id: string) => ({ functionCall: { id, name: "f", args: {} } });
  const response = (id: string, more: object = {}) => ({
    functionResponse: { id, name: "f", response: { output: "x" }, ...more },
  });
  const model = (...parts: object[]) => ({ role: "model", parts });
  const user = (...parts: object[]) => ({ role: "user", parts });
  const image = (mimeType: string) => ({ inlineData: { mimeType, data: "AAAA" } });
  const uneven =
    "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";

  test.for<readonly [string, object[], unknown]>([
    ["calls and their responses", [said, model(call("a"), call("b")), user(response("a"), response("b"))], "ok"],
    ["media in a response", [said, model(call("a")), user(response("a", { parts: [image("image/png")] }))], "ok"],
    ["nothing", [], "* GenerateContentRequest.contents: contents is not specified\n"],
    ["a role of its own", [{ role: "function", parts: [{ text: "x" }] }], "Please use a valid role: user, model."],
    [
      "an empty message",
      [said, model(), said],
      "* GenerateContentRequest.contents[1].parts: contents.parts must not be empty.\n",
    ],
    [
      "an empty part",
      [user({ thought: true })],
      expect.stringContaining("contents[0].parts[0].data: required oneof field 'data'"),
    ],
    ["a response too few", [said, model(call("a"), call("b")), user(response("a"))], uneven],
    ["no response", [said, model(call("a")), said], uneven],
    [
      "media beside responses",
      [said, model(call("a"), call("b")), user(response("a"), response("b"), image("image/png"))],
      uneven,
    ],
    [
      "a response to nothing",
      [said, user(response("a"))],
      "Please ensure that function response turn comes immediately after a function call turn.",
    ],
    [
      "a call at the start",
      [model(call("a")), user(response("a"))],
      "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
    ],
    ["another call's id", [said, model(call("a")), user(response("b"))], "Request contains an invalid argument."],
    [
      "no name",
      [said, model(call("a")), user(response("a", { name: "" }))],
      expect.stringContaining("function_response.name: Name cannot be empty."),
    ],
    ["a type that is not taken", [user(image("image/gif"))], "Unsupported MIME type: image/gif"],
    [
      "the same in a response",
      [said, model(call("a")), user(response("a", { parts: [image("application/zip")] }))],
      "Unsupported MIME type: application/zip",
    ],
    [
      "a result that looks like a reference",
      [said, model(call("a")), user(response("a", { response: { output: [{ $ref: "#/x" }] } }))],
      "The referenced name `#/x` in function_response.response does not match to a display_name in the function_response.parts.",
    ],
  ])("%s", async ([, contents, message]) => expect(await post({ contents })).toEqual(message));

  test("older models take no media in responses", async () => {
    const contents = [said, model(call("a")), user(response("a", { parts: [image("image/png")] }))];
    expect(await post({ contents }, { takesMediaInResponses: false })).toMatch(
      /`function_response.parts` is not supported for this model/,
    );
  });

  test("what does not fit is refused with the numbers", async () => {
    expect(await post({}, { maxInputTokens: 3 })).toMatch(
      /^The input token count \(\d+\) exceeds the maximum number of tokens allowed \(3\)\.$/,
    );
  });
});

test("signatures must come back with the first call, as they were", async () => {
  await using api = await geminiApi({
    answer: inTurn({ pieces: [{ call: "f" }, { call: "f" }] }, says("ok"), says("ok")),
  });
  const { models } = new GoogleGenAI({ apiKey: "test-key", httpOptions: { baseUrl: api.baseUrl } });
  const ask = async (contents: object[]) =>
    (await models.generateContent({ model: "gemini-2.5-flash", contents })).text;
  const said = { role: "user", parts: [{ text: "hi" }] };
  const { candidates: [{ content } = {}] = [] } = await models.generateContent({
    model: "gemini-2.5-flash",
    contents: [said],
  });
  const parts = content?.parts?.filter((part) => part.functionCall) ?? [];
  const responses = parts.map(({ functionCall }) => ({
    functionResponse: { id: functionCall?.id ?? "", name: "f", response: { output: "x" } },
  }));
  const withSignature = (thoughtSignature?: string) => [
    said,
    {
      role: "model",
      parts: [{ functionCall: parts[0]?.functionCall, ...(thoughtSignature && { thoughtSignature }) }, parts[1] ?? {}],
    },
    { role: "user", parts: responses },
  ];
  expect(await ask(withSignature(parts[0]?.thoughtSignature))).toBe("ok");
  await expect(ask(withSignature())).rejects.toThrow(
    "Function call is missing a thought_signature in functionCall parts",
  );
  await expect(ask(withSignature("b3RoZXI="))).rejects.toThrow("Corrupted thought signature.");
  // An earlier turn is not looked at.
  expect(await ask([...withSignature(), { role: "model", parts: [{ text: "ok" }] }, said])).toBe("ok");
});

test("a rule of the test's own is obeyed, and the API may say nothing about any", async () => {
  const refuses = ({ name }: { name?: string }) =>
    name === "f" ? "no to tools[0].function_declarations[{index}]" : undefined;
  expect(await post(declare(fine, { name: "f" }), { refuses })).toBe("no to tools[0].function_declarations[1]");
  expect(await post(declare(fine, { name: "f" }), { refuses, explains: "nothing" })).toBe(
    "Request contains an invalid argument.",
  );
  expect(await post(declare(fine, { name: "1" }), { explains: "nothing" })).toBe(
    "Request contains an invalid argument.",
  );
  expect(await post(declare(fine), { refuses, explains: "nothing" })).toBe("ok");
});
