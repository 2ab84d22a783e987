// A loop of your own on an OpenAI-compatible API: you send the requests, Fairlead decides about each call and runs it.
import { createHost, HostError, mapNames, ToolConfirmationOutcome } from "@fairlead/core";

const { OPENAI_BASE_URL = "https://api.openai.com/v1", OPENAI_API_KEY = "none", OPENAI_MODEL = "gpt-5" } = process.env;
const messages = [{ role: "user", content: process.argv[2] ?? "Greet Ada in French." }];

const host = await createHost({
  // No settings file is read; add your servers here. The built-in demo server is always there.
  settings: { mcpServers: {} },
  // Asked for every call that no rule allows. This program lets a model greet, and nothing else.
  confirm: async ({ serverName, toolName }) =>
    `${serverName}.${toolName}` === "demo.greet" ? ToolConfirmationOutcome.ProceedOnce : ToolConfirmationOutcome.Cancel,
});

async function ask(tools) {
  const response = await fetch(`${OPENAI_BASE_URL}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${OPENAI_API_KEY}` },
    body: JSON.stringify({ model: OPENAI_MODEL, messages, tools }),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()).choices[0].message;
}

/** What the model is told about one call, whatever became of it. */
async function answer({ name, arguments: json }, names) {
  try {
    const { llmContent, error } = await host.callAsModel(names.toOurs(name), JSON.parse(json || "{}"));
    const text = llmContent.map((part) => part.text ?? `[${part.inlineData?.mimeType}]`).join("\n");
    return error ? `error: ${text}` : text;
  } catch (error) {
    if (error instanceof HostError) return `error: ${error.code}: ${error.message}`;
    if (error instanceof SyntaxError) return `error: the arguments are not JSON`;
    throw error;
  }
}

try {
  await host.start({ servers: ["demo"] });
  const offered = host.toolRegistry.getAllTools().map((tool) => tool.inDialect("openai").schema);
  // This API takes fewer characters in names than MCP does.
  const names = mapNames(offered.map(({ name }) => name));
  const tools = offered.map(({ name, description, parametersJsonSchema: parameters }) => {
    return { type: "function", function: { name: names.toApi(name), description, parameters } };
  });
  for (let round = 0; round < 10; round += 1) {
    const message = await ask(tools);
    messages.push(message);
    if (!message.tool_calls?.length) {
      console.log(message.content);
      break;
    }
    for (const call of message.tool_calls)
      messages.push({ role: "tool", tool_call_id: call.id, content: await answer(call.function, names) });
  }
} finally {
  await host[Symbol.asyncDispose]();
}
