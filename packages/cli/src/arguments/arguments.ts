/** Reads a tool's arguments from `key=value` words, `tool(key: value)`, `--args` or stdin. */

import { resolve } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { readText } from "@fairlead/core/files";
import { limits } from "@fairlead/core/limits";
import { parametersOf, resolved } from "@fairlead/core/normalise";
import { closest } from "@fairlead/core/plain-text";
import { safe } from "@fairlead/core/text/safe-text";
import { isObject, member } from "@fairlead/wire/json";
import type { Command } from "commander";
import { type SignedTool, signature } from "../output/tools/signature.ts";
import { readStdin } from "../shell/prompt.ts";
import type { Context, Io } from "../shell/verb.ts";
import type { CallExpression } from "./call-expression.ts";
import { type Coerced, coerce, listItemsOf, parseExactJson } from "./coerce.ts";

/** The arguments of a call as the user typed them, in any of the four forms. */
export interface TypedArguments {
  readonly words: readonly string[];
  /** The value of `--args`. */
  readonly json: string | undefined;
  readonly written?: CallExpression;
}

/**
 * Reads the arguments of a call. `schema` is the tool's input schema as the server sent it.
 * @throws HostError `usage` or `arguments_invalid`
 */
export async function readArguments(
  given: TypedArguments,
  schema: unknown,
  { io, out }: Pick<Context, "io" | "out">,
): Promise<unknown> {
  const fromStdin = given.words.includes("-");
  const words = given.words.filter((word) => word !== "-");
  const sources = [fromStdin, given.json !== undefined, given.written !== undefined, words.length > 0];
  if (sources.filter(Boolean).length > 1)
    throw new HostError(
      "usage",
      "arguments given in more than one way: use only one of key=value, tool(key: value), --args and - (stdin)",
    );
  if (fromStdin && io.stdin.isTTY === true) out.say(safe`Type the arguments as JSON, then press Ctrl-D.`);
  if (fromStdin) {
    const most = limits.argumentBytes;
    return wholeJson((await readStdin(io, most, `stdin is too large: more than ${most} bytes`)).toString(), "stdin");
  }
  if (given.json !== undefined) return wholeJson(given.json, "--args");
  // Progress lines show a call as `server.tool {"key":"value"}`, so the arguments can also be typed in this form.
  const object = words.length === 1 ? readObject(words[0] ?? "") : undefined;
  if (object !== undefined) return object;
  if (given.written !== undefined) return Object.fromEntries(assignPositional(given.written, schema));
  return Object.fromEntries(await readWords(words, schema, io));
}

/**
 * Parses a JSON object. Returns undefined for any other text, such as `{key}=value`, and for an object with duplicate
 * keys or inexact numbers.
 */
export function readObject(text: string): object | undefined {
  if (!/^\{.*\}$/s.test(text)) return undefined;
  const parsed = parseExactJson(text);
  return parsed.kind !== "mistake" && isObject(parsed.value) ? parsed.value : undefined;
}

function wholeJson(text: string, source: string): unknown {
  const parsed = parseExactJson(text);
  if (parsed.kind === "mistake") throw new HostError("arguments_invalid", `${source} ${parsed.reason}`);
  return parsed.value;
}

/** Assigns positional values to parameters in the order of the signature. */
function assignPositional(
  { target, positional, named }: CallExpression,
  schema: unknown,
): ReadonlyMap<string, unknown> {
  const names = parametersOf(schema).map(({ name }) => name);
  if (positional.length > names.length)
    throw new HostError(
      "arguments_invalid",
      `${target} has ${names.length} parameters but got ${positional.length} positional values`,
    );
  const values = new Map(positional.map((value, at) => [names[at] ?? "", value]));
  for (const [name, value] of named) {
    if (values.has(name)) throw new HostError("arguments_invalid", `"${name}" is given twice: by position and by name`);
    values.set(name, value);
  }
  return values;
}

interface Word {
  readonly key: string;
  readonly text: string;
  readonly isJson: boolean;
}

async function readWords(words: readonly string[], schema: unknown, io: Io): Promise<ReadonlyMap<string, unknown>> {
  const given = new Map<string, Word[]>();
  for (const word of words.map(splitWord)) given.set(word.key, [...(given.get(word.key) ?? []), word]);
  const values = new Map<string, unknown>();
  for (const [key, repeated] of given) values.set(key, await readValue(key, repeated, schema, io));
  return values;
}

async function readValue(key: string, words: readonly Word[], root: unknown, io: Io): Promise<unknown> {
  const schema = schemaFor(key, root);
  const list = words.length > 1 ? listItemsOf(schema, root) : undefined;
  if (words.length > 1 && list === undefined) throw new HostError("usage", `"${key}" is given twice`);
  const items: unknown[] = [];
  for (const { text, isJson } of words) {
    // A value that starts with "@" and has several lines is pasted text, because no path has several lines.
    const isFile = text.startsWith("@") && !text.includes("\n");
    const content = isFile ? await readFile(key, text.slice(1), io) : text;
    const read: Coerced = isJson ? parseExactJson(content) : coerce(content, list ? list.items : schema, root);
    if (read.kind === "mistake") throw new HostError("arguments_invalid", `${key} ${read.reason}`);
    items.push(read.value);
  }
  return list ? items : items[0];
}

/** Returns the schema of one parameter. For a parameter that is not in `properties`, returns `additionalProperties`. */
function schemaFor(key: string, root: unknown): unknown {
  const parameter = parametersOf(root).find(({ name }) => name === key);
  const others = member(root, "additionalProperties");
  return parameter ? parameter.schema : isObject(others) ? others : undefined;
}

function splitWord(word: string): Word {
  const at = word.indexOf("=");
  const isJson = word[at - 1] === ":";
  const key = word.slice(0, isJson ? at - 1 : Math.max(at, 0));
  if (key === "") throw notAnArgument(word);
  return { key, text: word.slice(at + 1), isJson };
}

function notAnArgument(word: string): HostError {
  const [, key, value] = /^([\w-]+):(.*)$/s.exec(word) ?? [];
  const next = key === undefined ? "write key=value, key:=json, or --args JSON" : `write ${key}=${value}`;
  return new HostError("usage", `"${word}" is not an argument`, { next });
}

async function readFile(key: string, path: string, { cwd }: Io): Promise<string> {
  const file = await readText(resolve(cwd, path), limits.argumentBytes);
  if (file.kind === "text") return file.text;
  const reason = file.kind === "absent" ? "the file does not exist" : file.reason;
  const itself = JSON.stringify(`@${path}`);
  throw new HostError("usage", `${key}: cannot read the file ${path}: ${reason}`, {
    next: `to pass the text itself, write: ${key}:='${itself}'`,
  });
}

// Checks typed arguments for unknown and missing parameter names before a call. Pure functions.

/**
 * Returns warnings about unknown parameter names. `what` is the tool's name in messages.
 *
 * @throws HostError `arguments_invalid` if a required parameter is missing, or the schema forbids an unknown name
 */
export function checkParameterNames(what: string, tool: SignedTool, args: unknown): readonly string[] {
  if (!isObject(args)) return [];
  const parameters = parametersOf(tool.inputSchema);
  const parameterNames = parameters.map(({ name }) => name);
  const unknown = Object.keys(args).filter((name) => !parameterNames.includes(name));
  const missing = parameters.flatMap(({ name, required }) => (required && !Object.hasOwn(args, name) ? [name] : []));
  const policy = extrasOf(tool.inputSchema);
  if (policy === "forbidden" && unknown.length > 0)
    throw signatureError(`${what} has no parameter ${named(unknown, parameterNames)}`, tool);
  if (missing.length > 0) {
    const typed =
      policy !== "welcome" && unknown.length > 0
        ? `; it has no parameter ${named(unknown, [...missing, ...parameterNames])}`
        : "";
    throw signatureError(`${what} needs ${missing.map(quoted).join(", ")}${typed}`, tool);
  }
  if (policy !== "unsaid") return [];
  return unknown.map((name) => {
    const near = nearest(name, parameterNames);
    const suggestion = near === undefined ? "" : ` (did you mean ${quoted(near)}?)`;
    return `${what} has no parameter ${quoted(name)}${suggestion}; Fairlead sends the argument anyway`;
  });
}

/**
 * Whether the schema allows names that are not in `properties`. `welcome`: yes, or only a full validation can tell.
 * `unsaid`: the schema says nothing about them.
 */
type Extras = "forbidden" | "welcome" | "unsaid";

function extrasOf(inputSchema: unknown): Extras {
  const schema = resolved(inputSchema, inputSchema);
  const said = ["additionalProperties", "unevaluatedProperties"].map((keyword) => member(schema, keyword));
  const isPlain = ["allOf", "anyOf", "oneOf", "patternProperties"].every(
    (keyword) => member(schema, keyword) === undefined,
  );
  // With `allOf` or a similar keyword, only a full validation can tell whether an unknown name is allowed.
  if (said.includes(false)) return isPlain ? "forbidden" : "welcome";
  return isPlain && said.every((one) => one === undefined) && isObject(member(schema, "properties"))
    ? "unsaid"
    : "welcome";
}

function named(names: readonly string[], parameterNames: readonly string[]): string {
  const near = names.map((name) => nearest(name, parameterNames)).find((name) => name !== undefined);
  return `${names.map(quoted).join(", ")}${near === undefined ? "" : `; did you mean ${quoted(near)}?`}`;
}

/** Finds the parameter that a mistyped name probably means. Also recognises abbreviations such as `lang` and `msg`. */
function nearest(name: string, parameterNames: readonly string[]): string | undefined {
  const starts = (longer: string): boolean => name.length > 1 && longer.startsWith(name);
  return (
    closest(name, parameterNames) ??
    parameterNames.find(starts) ??
    parameterNames.find((longer) => isShortFor(name, longer))
  );
}

/** Whether `name` abbreviates `longer`: same first letter, and `longer` has all letters of `name` in the same order. */
function isShortFor(name: string, longer: string): boolean {
  let at = 0;
  for (const letter of longer) if (letter === name[at]) at += 1;
  return name.length > 1 && name[0] === longer[0] && at === name.length;
}

function quoted(name: string): string {
  return `"${name}"`;
}

function signatureError(message: string, tool: SignedTool): HostError {
  return new HostError("arguments_invalid", message, { next: `match the signature: ${signature(tool)}` });
}

// Rewrites a tool's arguments that were typed as options: `--name Ada` becomes `name=Ada`.

/**
 * Returns the words with every option that the command does not have as `key=value`. An option without a value becomes
 * `key=true`.
 */
export function toNamedArguments(words: readonly string[], { options }: Pick<Command, "options">): readonly string[] {
  const [word, next, ...rest] = words;
  if (word === undefined) return [];
  const [flag = "", value] = splitAt(word, word.indexOf("="));
  const option = options.find(({ short, long }) => flag === short || flag === long);
  const others = next === undefined ? [] : [next, ...rest];
  if (option === undefined && /^--[^-]/.test(flag)) {
    const key = flag.slice(2);
    if (value !== undefined) return [`${key}=${value}`, ...toNamedArguments(others, { options })];
    if (next === undefined || next.startsWith("-")) return [`${key}=true`, ...toNamedArguments(others, { options })];
    return [`${key}=${next}`, ...toNamedArguments(rest, { options })];
  }
  const takesNext = option?.required === true && value === undefined && next !== undefined;
  return takesNext
    ? [word, next, ...toNamedArguments(rest, { options })]
    : [word, ...toNamedArguments(others, { options })];
}

function splitAt(word: string, at: number): readonly string[] {
  return at < 0 ? [word] : [word.slice(0, at), word.slice(at + 1)];
}
