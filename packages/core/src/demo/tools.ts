/** The demo server's tools. Each shows one thing that a tool can do. */

import { type JsonObject, type ListedTool, WireError } from "@fairlead/wire";
import { sleep } from "../clock.ts";
import { refuseCursor } from "./lists.ts";
import { drawPicture, patterns } from "./picture.ts";
import { type DemoTool, defineTool, failure, type Task, text } from "./tool.ts";

/** A slow tool that reports no progress, to try cancelling and timeouts. */
const waitTool: DemoTool = defineTool({
  name: "wait",
  title: "Take a while",
  description: "Wait without sending anything, then answer. Try Ctrl-C or a timeout.",
  parameters: {
    seconds: { type: "number", description: "how long to wait", minimum: 0, maximum: 3600, default: 10 },
  },
  async run({ seconds }, { clock, signal }) {
    await sleep(clock, seconds * 1000, signal);
    return text(`Waited ${seconds} s.`);
  },
});

/**
 * A tool with a structured result: data that matches `outputSchema`, and the same data as text for hosts that read only
 * text.
 */
const statisticsTool: DemoTool = defineTool({
  name: "statistics",
  title: "Count words",
  description: "Count the characters, words and lines of a text, and find its longest word.",
  parameters: { text: { type: "string", description: "the text to look at", examples: ["to be or not to be"] } },
  outputSchema: {
    type: "object",
    properties: {
      characters: { type: "integer" },
      words: { type: "integer" },
      lines: { type: "integer" },
      longestWord: { type: "string" },
    },
    required: ["characters", "words", "lines", "longestWord"],
  },
  run(values) {
    const words = values.text.match(/[\p{L}\p{N}\p{M}'’-]+/gu) ?? [];
    const structuredContent = {
      characters: [...new Intl.Segmenter().segment(values.text)].length,
      words: words.length,
      lines: values.text === "" ? 0 : values.text.split("\n").length,
      longestWord: words.reduce((longest, word) => (word.length > longest.length ? word : longest), ""),
    };
    return { ...text(JSON.stringify(structuredContent)), structuredContent };
  },
});

/** A tool that returns an image and a text. */
const pictureTool: DemoTool = defineTool({
  name: "picture",
  title: "Draw a picture",
  description: "Draw a small square picture and return it as a PNG.",
  parameters: {
    pattern: { type: "string", description: "what to draw", enum: [...patterns], default: "waves" },
    size: { type: "integer", description: "width and height in pixels", minimum: 8, maximum: 256, default: 64 },
  },
  async run({ pattern, size }) {
    const png = await drawPicture(pattern, size);
    return {
      content: [
        { type: "text", text: `A picture of ${pattern}, ${size} × ${size} pixels.` },
        { type: "image", mimeType: "image/png", data: png.toString("base64") },
      ],
    };
  },
});

const greetings: ReadonlyMap<string, string> = new Map([
  ["en", "Hello"],
  ["de", "Moin"],
  ["es", "Hola"],
  ["fr", "Bonjour"],
  ["ja", "こんにちは"],
]);

const greetTool: DemoTool = defineTool({
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

/** A tool that returns a result with `isError`. */
const failTool: DemoTool = defineTool({
  name: "fail",
  title: "Fail on purpose",
  description: "Report an error, as a tool does when it fails.",
  parameters: { reason: { type: "string", description: "the reason to report", default: "this is a test" } },
  run: ({ reason }) => failure(`This tool failed: ${reason}`),
});

/** A tool that reports progress. */
const countTool: DemoTool = defineTool({
  name: "count",
  title: "Count slowly",
  description: "Count from one upwards with a pause before each number, and report progress.",
  parameters: {
    to: { type: "integer", description: "the last number", minimum: 1, maximum: 100, default: 5 },
    pause: {
      type: "number",
      description: "milliseconds before each number",
      minimum: 0,
      maximum: 10_000,
      default: 300,
    },
  },
  async run({ to, pause }, { clock, signal, progress }) {
    const numbers = Array.from({ length: to }, (_, at) => at + 1);
    for (const number of numbers) {
      await sleep(clock, pause, signal);
      progress({ progress: number, total: to, message: `counted to ${number}` });
    }
    return text(numbers.join(" "));
  },
});

const tools: readonly DemoTool[] = [greetTool, pictureTool, statisticsTool, countTool, waitTool, failTool];

/** The items of `tools/list`. */
export const toolDefinitions: readonly ListedTool[] = tools.map(({ definition }) => definition);

export function listTools(params: JsonObject): JsonObject {
  refuseCursor(params);
  return { tools: toolDefinitions };
}

/**
 * Answers `tools/call`.
 *
 * @throws WireError `rpc` with code -32602 for an unknown tool
 */
export async function callTool(params: JsonObject, task: Task): Promise<JsonObject> {
  const tool = tools.find(({ definition }) => definition.name === params["name"]);
  if (!tool) throw new WireError("rpc", `Unknown tool: ${String(params["name"])}`, { rpc: { code: -32602 } });
  return tool.run(params["arguments"], task);
}
