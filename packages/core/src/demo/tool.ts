/** Defines demo tools. The schema of a tool's parameters also checks its arguments and gives their TypeScript types. */

import type { JsonObject, ListedTool, Progress } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import type { Clock } from "../clock.ts";

/** The clock, the abort signal and the progress function that a tool gets with a request. */
export interface Task {
  readonly clock: Clock;
  /** The abort signal. When it is aborted, the request rejects with the signal's reason. */
  readonly signal: AbortSignal;
  readonly progress: (progress: Progress) => void;
}

/** JSON Schema of one parameter. A parameter without `default` is required. */
export type Parameter = { readonly description: string } & (
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
export interface DemoTool {
  readonly definition: ListedTool;
  run(args: unknown, task: Task): Promise<JsonObject>;
}

/** Everything that defines one demo tool. */
export interface ToolPlan<P extends Parameters> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly parameters: P;
  readonly outputSchema?: JsonObject;
  readonly run: (values: Values<P>, task: Task) => JsonObject | Promise<JsonObject>;
}

/** Creates a tool that checks its arguments and fills in defaults before it runs. */
export function defineTool<const P extends Parameters>({ run, parameters, ...plan }: ToolPlan<P>): DemoTool {
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
export function text(words: string): JsonObject {
  return { content: [{ type: "text", text: words }] };
}

/** A tool result with one text and `isError`. */
export function failure(words: string): JsonObject {
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
