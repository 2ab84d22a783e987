/** The demo server's tools. Each shows one thing that a tool can do. */

import { type JsonObject, type ListedTool, type Progress, WireError } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { type Clock, sleep } from "../clock.ts";
import { drawPicture, patterns } from "./picture.ts";
import { refuseCursor } from "./resources.ts";

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

/** The clock, the abort signal and the progress function that a tool gets with a request. */
export interface Task {
  readonly clock: Clock;
  /** The abort signal. When it is aborted, the request rejects with the signal's reason. */
  readonly signal: AbortSignal;
  readonly progress: (progress: Progress) => void;
}

/** JSON Schema of one parameter. A parameter without `default` is required. */
type Parameter = { readonly description: string } & (
  | {
      readonly type: "string";
      readonly enum?: readonly string[];
      readonly default?: string;
      readonly examples?: readonly string[];
    }
  | {
      readonly type: "integer" | "number";
      readonly minimum: number;
      readonly maximum: number;
      readonly default?: number;
    }
  | { readonly type: "boolean"; readonly default?: boolean }
);

type Parameters = Readonly<Record<string, Parameter>>;
type Value = string | number | boolean;
type ValueOf<P extends Parameter> = P["type"] extends "string"
  ? string
  : P["type"] extends "boolean"
    ? boolean
    : number;
/** The value of every parameter: the argument, or the parameter's default if the argument is absent. */
type Values<P extends Parameters> = { readonly [K in keyof P]: ValueOf<P[K]> };

/** A demo tool with its definition for `tools/list`. */
interface DemoTool {
  readonly definition: ListedTool;
  run(args: unknown, task: Task): Promise<JsonObject>;
}

/** Everything that defines one demo tool. */
interface ToolPlan<P extends Parameters> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly parameters: P;
  readonly outputSchema?: JsonObject;
  readonly run: (values: Values<P>, task: Task) => JsonObject | Promise<JsonObject>;
}

/** Creates a tool that checks its arguments and fills in defaults before it runs. */
function defineTool<const P extends Parameters>({ run, parameters, ...plan }: ToolPlan<P>): DemoTool {
  const required = Object.entries(parameters).flatMap(([name, { default: fallback }]) =>
    fallback === undefined ? name : [],
  );
  return {
    definition: {
      ...plan,
      inputSchema: {
        type: "object",
        properties: parameters,
        required: required.length > 0 ? required : undefined,
        additionalProperties: false,
      },
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    },
    async run(args, task) {
      const read = readValues(parameters, args);
      /*
       * Reports a mistake in the arguments as a tool result and not as a protocol error, so that the model can read the
       * message and try again.
       */
      if (read.kind === "mistake") return failure(`Invalid arguments for ${plan.name}: ${read.message}`);
      return run(read.values as Values<P>, task);
    },
  };
}

/** A tool result with one text. */
function text(words: string): JsonObject {
  return { content: [{ type: "text", text: words }] };
}

/** A tool result with one text and `isError`. */
function failure(words: string): JsonObject {
  return { ...text(words), isError: true };
}

type Read =
  | { readonly kind: "values"; readonly values: Readonly<Record<string, Value>> }
  | { readonly kind: "mistake"; readonly message: string };

function readValues(parameters: Parameters, args: unknown = {}): Read {
  if (!isObject(args)) return mistake("the arguments must be an object");
  const given = new Map<string, unknown>(Object.entries(args));
  const unknown = [...given.keys()].find((name) => !Object.hasOwn(parameters, name));
  if (unknown !== undefined) return mistake(`there is no parameter "${unknown}"`);
  const values = new Map<string, Value>();
  for (const [name, parameter] of Object.entries(parameters)) {
    const value = given.get(name) ?? parameter.default;
    if (value === undefined) return mistake(`"${name}" is missing`);
    if (!isAcceptable(parameter, value)) return mistake(`"${name}" must be ${wanted(parameter)}`);
    values.set(name, value);
  }
  return { kind: "values", values: Object.fromEntries(values) };
}

function mistake(message: string): Read {
  return { kind: "mistake", message };
}

function isAcceptable(parameter: Parameter, value: unknown): value is Value {
  switch (parameter.type) {
    case "string":
      return typeof value === "string" && (parameter.enum?.includes(value) ?? true);
    case "integer":
      return Number.isInteger(value) && isWithin(parameter, value);
    case "number":
      return isWithin(parameter, value);
    case "boolean":
      return typeof value === "boolean";
  }
}

function isWithin(
  { minimum, maximum }: { readonly minimum: number; readonly maximum: number },
  value: unknown,
): boolean {
  return typeof value === "number" && value >= minimum && value <= maximum;
}

function wanted(parameter: Parameter): string {
  switch (parameter.type) {
    case "string":
      return parameter.enum ? `one of ${parameter.enum.join(", ")}` : "a string";
    case "integer":
    case "number":
      return `${parameter.type === "integer" ? "an integer" : "a number"} from ${parameter.minimum} to ${parameter.maximum}`;
    case "boolean":
      return "true or false";
  }
}
