// A loop of your own on Anthropic's messages API: you send the requests, Fairlead decides about each call and runs it.
import { createHost, HostError, mapNames, ToolConfirmationOutcome } from "@fairlead/core";

const { ANTHROPIC_BASE_URL = "https://api.anthropic.com", ANTHROPIC_API_KEY = "" } = process.env;
const { ANTHROPIC_MODEL = "claude-sonnet-4-5" } = process.env;
const messages = [{ role: "user", content: process.argv[2] ?? "Greet Ada in French." }];

const host = await createHost({
  // No settings file is read; add your servers here. The built-in demo server is always there.
  settings: { mcpServers: {} },
  // Asked for every call that no rule allows. This program lets a model greet and draw, and nothing else.
  confirm: async ({ serverName, toolName }) =>
    ["demo.greet", "demo.picture"].includes(`${serverName}.${toolName}`)
      ? ToolConfirmationOutcome.ProceedOnce
      : ToolConfirmationOutcome.Cancel,
});

async function ask(tools) {
  const response = await fetch(`${ANTHROPIC_BASE_URL}/v1/messages`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-api-key": ANTHROPIC_API_KEY,
      "anthropic-version": "2023-06-01",
    },
    body: JSON.stringify({ model: ANTHROPIC_MODEL, max_tokens: 1024, messages, tools }),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()).content;
}

const pictures = ["image/png", "image/jpeg", "image/gif", "image/webp"];

function toBlock({ text, inlineData }) {
  if (pictures.includes(inlineData?.mimeType))
    return { type: "image", source: { type: "base64", media_type: inlineData.mimeType, data: inlineData.data } };
  return { type: "text", text: text ?? `[${inlineData?.mimeType}]` };
}

/** What the model is told about one call, whatever became of it. */
async function answer({ id, name, input }, names) {
  const result = { type: "tool_result", tool_use_id: id };
  try {
    const { llmContent, error } = await host.callAsModel(names.toOurs(name), input);
    return { ...result, content: llmContent.map(toBlock), is_error: error !== undefined };
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return { ...result, content: `${error.code}: ${error.message}`, is_error: true };
  }
}

try {
  await host.start({ servers: ["demo"] });
  const offered = host.toolRegistry.getAllTools().map((tool) => tool.inDialect("anthropic").schema);
  // This API takes fewer characters in names than MCP does.
  const names = mapNames(offered.map(({ name }) => name));
  const tools = offered.map(({ name, description, parametersJsonSchema }) => {
    return { name: names.toApi(name), description, input_schema: parametersJsonSchema };
  });
  for (let round = 0; round < 10; round += 1) {
    const content = await ask(tools);
    messages.push({ role: "assistant", content });
    const calls = content.filter(({ type }) => type === "tool_use");
    if (calls.length === 0) {
      console.log(content.map(({ text }) => text).join(""));
      break;
    }
    // One message answers all calls of the one before.
    const results = [];
    for (const call of calls) results.push(await answer(call, names));
    messages.push({ role: "user", content: results });
  }
} finally {
  await host[Symbol.asyncDispose]();
}
