/*
 * Replacements of the Gemini API and OpenAI's API, to try a conversation by hand without a key. Prints the variables to
 * set and runs until it is stopped. First run `npx tsc -b`, then: node model-api.mjs [--gemini-port 8810]
 * [--openai-port 8811]. The model obeys: it makes the call in a line `call NAME {"a":1}` of the prompt. It makes calls
 * after a line `then` when the earlier calls have been answered.
 */
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
