// Stand-ins of the Gemini API and of OpenAI's, to try a conversation by hand without a key: prints what to set, stays until it is stopped.
// Compiled first (`npx tsc -b`), then: node model-api.mjs [--gemini-port 8810] [--openai-port 8811]. The model does what it is told:
// a line `call NAME {"a":1}` of the prompt is called, lines after a line `then` once those before have been answered.
import { parseArgs } from "node:util";
import { geminiApi, openaiApi } from "@fairlead/test-servers";

const { values } = parseArgs({
  options: {
    "gemini-port": { type: "string", default: "0" },
    "openai-port": { type: "string", default: "0" },
  },
});

const gemini = await geminiApi({ port: Number(values["gemini-port"]) });
const openai = await openaiApi({ port: Number(values["openai-port"]) });
process.stdout.write(`GOOGLE_GEMINI_BASE_URL=${gemini.baseUrl} GEMINI_API_KEY=${gemini.settings.apiKey}
OPENAI_BASE_URL=${openai.baseUrl} (model: ${openai.settings.models.join(", ")})
`);
