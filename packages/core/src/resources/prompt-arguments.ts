/** Parses `/name words` into a prompt with its arguments, or into an error that names the missing arguments. Pure. */

import { HostError } from "../errors.ts";
import { toModelName } from "../normalise/tool-name.ts";
import type { DiscoveredMCPPrompt, PromptValues } from "../server/discovered-prompt.ts";
import type { PromptRegistry } from "../server/registries.ts";
import { closest } from "../text/closest.ts";
import { closingQuote } from "./typed-lines.ts";

/** A prompt with values for its arguments, ready to request from its server. */
export interface PromptCall {
  readonly server: string;
  /** The name that the server gives the prompt. */
  readonly prompt: string;
  readonly args: PromptValues;
}

/** Arguments as the user typed them. */
export interface GivenArguments {
  readonly named: readonly (readonly [name: string, value: string])[];
  readonly positional: readonly string[];
}

type Described = Pick<DiscoveredMCPPrompt, "name" | "serverName" | "serverPromptName" | "arguments">;

/**
 * Parses a line that the user typed. Undefined if the line does not begin with a slash, or if it begins with a path
 * such as `/etc/hosts`.
 *
 * @throws HostError `usage` if no prompt or several prompts match, `arguments_invalid`
 */
export function readPromptCall(typed: string, prompts: PromptSource): PromptCall | undefined {
  const line = typed.trimStart();
  const [first, ...words] = line.startsWith("/") ? splitWords(line.slice(1)) : [];
  if (first === undefined || first.text === "" || /^\s/.test(line.slice(1))) return undefined;
  const prompt = findPrompt(first.text, prompts);
  if (prompt === undefined && first.text.includes("/")) return undefined;
  if (prompt === undefined) throw unknownPrompt(first.text, prompts);
  return {
    server: prompt.serverName,
    prompt: prompt.serverPromptName,
    args: bindArguments(prompt, readWords(words, prompt)),
  };
}

/**
 * Assigns the typed words to the required arguments that have no value yet. If there are none, assigns them to the
 * optional arguments. If only one argument remains, it takes all words.
 *
 * @throws HostError `arguments_invalid`
 */
export function bindArguments(prompt: Described, { named, positional }: GivenArguments): PromptValues {
  const given = new Map<string, string>();
  for (const [name, value] of named) {
    if (!prompt.arguments.some((argument) => argument.name === name)) throw unknownArgument(name, prompt);
    if (given.has(name)) throw refusal(`${name} is given twice`, prompt);
    given.set(name, value);
  }
  const open = prompt.arguments.filter(({ name }) => !given.has(name));
  const needed = open.filter(({ required }) => required);
  const fillable = needed.length > 0 ? needed : open;
  const [only, second] = fillable;
  const values = only && !second && positional.length > 0 ? [positional.join(" ")] : positional;
  if (values.length > fillable.length) throw refusal(tooMany(values.length, fillable.length), prompt);
  for (const [index, value] of values.entries()) given.set(fillable[index]?.name ?? "", value);
  const missing = needed.filter(({ name }) => !given.has(name)).map(({ name }) => name);
  if (missing.length > 0) throw refusal(`${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} missing`, prompt);
  return Object.fromEntries(given);
}

/**
 * The name that lists and messages show for a prompt. It is the server's own name if the registry kept it, otherwise
 * `server.prompt`. The user can type both.
 */
export function typedPromptName({ name, serverName, serverPromptName }: Omit<Described, "arguments">): string {
  const pair = `${serverName}.${serverPromptName}`;
  // If `server.prompt` contains a space or a slash, returns the name in the registry, because the user must type one
  // word.
  return name === toModelName(serverPromptName) || /[\s/]/.test(pair) ? name : pair;
}

/** Returns the usage line: `/teach --knot=… [--audience=…]`. */
export function promptUsage(prompt: Described): string {
  const { arguments: wanted } = prompt;
  const written = wanted.map((argument) => {
    const option = `--${argument.name}=…`;
    return argument.required ? option : `[${option}]`;
  });
  return [`/${typedPromptName(prompt)}`, ...written].join(" ");
}

/** Reads `--name=value`, `--name value` and `name=value`. All words after `--` are values without names. */
function readWords(words: readonly Word[], prompt: Described): GivenArguments {
  const named: [string, string][] = [];
  const positional: string[] = [];
  const argumentNames = new Set(prompt.arguments.map(({ name }) => name));
  for (let at = 0; at < words.length; at += 1) {
    const { text, plain } = words[at] ?? { text: "", plain: 0 };
    if (text === "--" && plain === 2) {
      positional.push(...words.slice(at + 1).map((word) => word.text));
      break;
    }
    const isOption = text.startsWith("--") && plain > 2;
    const equals = text.slice(0, plain).indexOf("=");
    const name = text.slice(isOption ? 2 : 0, equals === -1 ? undefined : equals);
    const following = words[at + 1];
    if (equals > 0 && (isOption || isMeantAs(name, argumentNames))) named.push([name, text.slice(equals + 1)]);
    else if (!isOption) positional.push(text);
    else if (!argumentNames.has(name)) throw unknownArgument(name, prompt);
    else if (following === undefined) throw refusal(`${name} has no value`, prompt);
    else {
      named.push([name, following.text]);
      at += 1;
    }
  }
  return { named, positional };
}

/**
 * Whether the text before `=` is an argument name or is similar to one. If not, the `=` is part of a value, such as a
 * formula or a URL.
 */
function isMeantAs(name: string, argumentNames: ReadonlySet<string>): boolean {
  return argumentNames.has(name) || closest(name, argumentNames) !== undefined;
}

function unknownArgument(name: string, prompt: Described): HostError {
  const near = closest(
    name,
    prompt.arguments.map((argument) => argument.name),
  );
  return refusal(`there is no argument ${name}${near === undefined ? "" : ` (did you mean ${near}?)`}`, prompt);
}

function tooMany(given: number, argumentCount: number): string {
  if (argumentCount === 0) return "the prompt takes no further arguments";
  return `there are ${given} words for ${argumentCount} arguments; put quotes around a value with spaces`;
}

function refusal(reason: string, prompt: Described): HostError {
  const { serverName, serverPromptName } = prompt;
  return new HostError("arguments_invalid", `prompt ${serverPromptName} of "${serverName}": ${reason}`, {
    serverName,
    next: promptUsage(prompt),
  });
}

type PromptSource = Pick<PromptRegistry, "getPrompt" | "getAllPrompts">;

/**
 * Finds a prompt by the name that the user typed after the slash: `name`, `server.name` or `server:name`. Undefined if
 * no prompt matches.
 *
 * @throws HostError `usage` if several prompts match
 */
export function findPrompt(name: string, prompts: PromptSource): DiscoveredMCPPrompt | undefined {
  const registered = prompts.getPrompt(name);
  if (registered) return registered;
  const all = prompts.getAllPrompts();
  const [only, second] = firstNotEmpty([
    all.filter((prompt) => isPair(name, prompt, prompt.serverPromptName)),
    all.filter((prompt) => isPair(name, prompt, prompt.name)),
    all.filter((prompt) => prompt.serverPromptName === name),
  ]);
  if (only === undefined || second === undefined) return only;
  const names = [only, second].map((prompt) => `/${typedPromptName(prompt)}`).join(" or ");
  throw new HostError("usage", `"${name}" is ambiguous: write ${names}`, { next: "fairlead prompts" });
}

/** Creates the error for a prompt that does not exist, with a similar name if there is one. */
export function unknownPrompt(name: string, prompts: PromptSource): HostError {
  const promptNames = prompts.getAllPrompts().flatMap((prompt) => [prompt.name, pairOf(prompt)]);
  const near = closest(name, promptNames);
  const message = `there is no prompt "${name}"${near === undefined ? "" : `; did you mean /${near}?`}`;
  return new HostError("usage", message, { next: "fairlead prompts" });
}

function pairOf({ serverName, serverPromptName }: DiscoveredMCPPrompt): string {
  return `${serverName}.${serverPromptName}`;
}

function isPair(typed: string, { serverName }: DiscoveredMCPPrompt, name: string): boolean {
  return typed === `${serverName}.${name}` || typed === `${serverName}:${name}`;
}

/** Returns the servers whose name, followed by `.` or `:`, begins the typed text. */
export function serversNamedBy(typed: string, servers: readonly string[]): readonly string[] {
  return servers.filter((server) => typed.startsWith(`${server}.`) || typed.startsWith(`${server}:`));
}

function firstNotEmpty<T>(lists: readonly (readonly T[])[]): readonly T[] {
  return lists.find(({ length }) => length > 0) ?? [];
}

/** A word of the typed text, without quotes and escapes. */
interface Word {
  readonly text: string;
  /** The number of characters before the first quoted or escaped character. `--` and `=` have a meaning only there. */
  readonly plain: number;
}

const quotes = "\"'";

/** Splits a line at spaces. Quotes and backslashes keep spaces inside a word. */
export function splitWords(line: string): readonly Word[] {
  const words: Word[] = [];
  let at = 0;
  while (at < line.length) {
    if (/\s/.test(line.charAt(at))) at += 1;
    else {
      const { word, end } = readWord(line, at);
      words.push(word);
      at = end;
    }
  }
  return words;
}

function readWord(line: string, start: number): { readonly word: Word; readonly end: number } {
  let text = "";
  let plain: number | undefined;
  let at = start;
  while (at < line.length && !/\s/.test(line.charAt(at))) {
    const character = line.charAt(at);
    // A quote inside a word counts as an apostrophe.
    const mayQuote = quotes.includes(character) && (text === "" || text.endsWith("="));
    const close = mayQuote ? closingQuote(line, at) : undefined;
    if (close !== undefined) {
      plain ??= text.length;
      text += withoutEscapes(line.slice(at + 1, close), character);
      at = close + 1;
    } else if (character === "\\" && /^[\s"'\\=-]$/.test(line.charAt(at + 1))) {
      plain ??= text.length;
      text += line.charAt(at + 1);
      at += 2;
    } else {
      text += character;
      at += 1;
    }
  }
  return { word: { text, plain: plain ?? text.length }, end: at };
}

function withoutEscapes(text: string, quote: string): string {
  return text.replaceAll(/\\(["'\\])/g, (whole, escaped: string) =>
    escaped === quote || escaped === "\\" ? escaped : whole,
  );
}
