import { anthropicApi, geminiApi, openaiApi, says, scaled, seed } from "@fairlead/test-servers";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { compileSchema, type SchemaDialect } from "../../src/normalise/schema/compile.ts";
import { anySchema } from "../support/any-schema.ts";

function compiledSchemas(dialect: SchemaDialect): readonly object[] {
  const raw = fc.sample(anySchema, { numRuns: scaled(3_000, 150), seed: seed() });
  const schemas = raw.flatMap((each) => {
    const compiled = compileSchema(each, dialect);
    return compiled.kind === "compiled" ? [compiled.schema] : [];
  });
  // Few of them are too large: an API that is sent nothing refuses nothing.
  expect(schemas.length).toBeGreaterThan(raw.length / 2);
  return schemas;
}

function inGroups<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );
}

async function send(url: string, body: object): Promise<unknown> {
  const headers = { "x-goog-api-key": "test-key", "x-api-key": "test-key", "anthropic-version": "2023-06-01" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  return response.ok ? "ok" : response.json();
}

test.for([
  ["the Gemini API", "v1beta/models/gemini-2.5-flash"],
  ["Vertex AI", "v1/projects/p/locations/l/publishers/google/models/gemini-2.5-flash"],
] as const)("whatever a server sends, %s takes what is made of it", async ([, model]) => {
  await using api = await geminiApi({ answer: () => says("ok"), maxInputTokens: Number.POSITIVE_INFINITY });
  const contents = [{ role: "user", parts: [{ text: "hi" }] }];
  for (const schemas of inGroups(compiledSchemas("gemini"), 512)) {
    const functionDeclarations = schemas.map((parametersJsonSchema, index) => ({
      name: `f${index}`,
      parametersJsonSchema,
    }));
    const body = { contents, tools: [{ functionDeclarations }] };
    expect(await send(`${api.baseUrl}/${model}:generateContent`, body)).toBe("ok");
  }
});

test("whatever a server sends, OpenAI's takes what is made of it", async () => {
  await using api = await openaiApi({ answer: () => says("ok"), maxInputTokens: Number.POSITIVE_INFINITY });
  const messages = [{ role: "user", content: "hi" }];
  for (const schemas of inGroups(compiledSchemas("openai"), 128)) {
    const tools = schemas.map((parameters, index) => ({
      type: "function",
      function: { name: `f${index}`, parameters },
    }));
    expect(await send(`${api.baseUrl}/chat/completions`, { model: "test-model", messages, tools })).toBe("ok");
  }
});

test("whatever a server sends, Anthropic's takes what is made of it, and it is draft 2020-12", async () => {
  await using api = await anthropicApi({ answer: () => says("ok"), maxInputTokens: Number.POSITIVE_INFINITY });
  const messages = [{ role: "user", content: "hi" }];
  const draft = new Ajv2020({ strict: false, validateFormats: false });
  for (const schemas of inGroups(compiledSchemas("anthropic"), 128)) {
    const tools = schemas.map((input_schema, index) => ({ name: `f${index}`, input_schema }));
    const body = { model: "claude-test", max_tokens: 1, messages, tools };
    expect(await send(`${api.baseUrl}/v1/messages`, body)).toBe("ok");
    for (const schema of schemas) expect([draft.validateSchema(schema), schema]).toEqual([true, schema]);
  }
});
