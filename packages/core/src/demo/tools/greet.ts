/** Text, the plainest of results. */

import { type DemoTool, defineTool, text } from "../tool.ts";

const greetings: ReadonlyMap<string, string> = new Map([
  ["en", "Hello"],
  ["de", "Moin"],
  ["es", "Hola"],
  ["fr", "Bonjour"],
  ["ja", "こんにちは"],
]);

export const greetTool: DemoTool = defineTool({
  name: "greet",
  title: "Greet someone",
  description: "Greet a person by name.",
  parameters: {
    name: { type: "string", description: "who is greeted", examples: ["Ada"] },
    language: { type: "string", description: "the language to greet in", enum: [...greetings.keys()], default: "en" },
    loud: { type: "boolean", description: "whether to shout", default: false },
  },
  run({ name, language, loud }) {
    const greeting = `${greetings.get(language)}, ${name}!`;
    return text(loud ? greeting.toUpperCase() : greeting);
  },
});
