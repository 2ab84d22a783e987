/**
 * Writes text from servers into TypeScript source as names, literals and doc comments. Escapes the text, so that it
 * cannot end a literal or a comment.
 */

import { resolve } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { updateText } from "@fairlead/core/files";
import { disruptive, exoticSpaces, invisible, toShellWord } from "@fairlead/core/plain-text";
import { toSafeText, toVisibleLine } from "@fairlead/core/text/safe-text";
import { isShallow } from "@fairlead/wire/json";

/** Returns a string literal. Escapes characters that are invisible or change how text is displayed. */
export function toStringLiteral(text: string): string {
  return escapeUnseen(JSON.stringify(text));
}

function escapeUnseen(json: string): string {
  const toEscapes = (characters: string): string =>
    [...Array(characters.length).keys()]
      .map((at) => `\\u${characters.charCodeAt(at).toString(16).padStart(4, "0")}`)
      .join("");
  return [disruptive, invisible, exoticSpaces].reduce((text, unseen) => text.replaceAll(unseen(), toEscapes), json);
}

const longestLiteral = 2_000;

/** Returns the JSON text of a value, which TypeScript reads as a literal type. Undefined if the value is too large. */
export function toLiteralType(value: unknown): string | undefined {
  const json = isShallow(value) ? JSON.stringify(value) : undefined;
  return json === undefined || json.length > longestLiteral ? undefined : escapeUnseen(json);
}

/** Returns a property name: quoted, unless it is a plain identifier. */
export function toPropertyKey(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : toStringLiteral(name);
}

const wordParts = /[\p{ID_Start}$_\p{ID_Continue}]+/gu;

/**
 * Turns `create-issue` into `createIssue`. Adds an underscore to a name that JavaScript gives a meaning, such as
 * `toString` or `then`.
 */
export function toMethodName(name: string): string {
  const [first = "tool", ...others] = wordsOf(name);
  const start = first === first.toUpperCase() ? first.toLowerCase() : lowerFirst(first);
  const method = identifier([start, ...others.map(upperFirst)].join(""));
  return method in Object.prototype || method === "then" || method === "toJSON" ? `${method}_` : method;
}

/** Turns `create-issue` into `CreateIssue`. */
export function toTypeName(...names: readonly string[]): string {
  const words = names.flatMap(wordsOf);
  return identifier((words.length === 0 ? ["Type"] : words.map(upperFirst)).join(""));
}

const longestName = 80;

function wordsOf(name: string): readonly string[] {
  const parts = name.slice(0, longestName).match(wordParts) ?? [];
  return parts.flatMap((part) => part.split("_")).filter((word) => word !== "");
}

function identifier(name: string): string {
  return /^[\p{ID_Start}$]/u.test(name) ? name : `_${name}`;
}

function upperFirst(word: string): string {
  const [first = "", ...others] = word;
  return first.toUpperCase() + others.join("");
}

function lowerFirst(word: string): string {
  const [first = "", ...others] = word;
  return first.toLowerCase() + others.join("");
}

/** Makes each name unique, by adding a number to a name that is already used. */
export function createNames(taken: Iterable<string> = []): (name: string) => string {
  const used = new Set(taken);
  return (name) => {
    let free = name;
    for (let number = 2; used.has(free); number += 1) free = `${name}${number}`;
    used.add(free);
    return free;
  };
}

const columns = 110;

/** Returns a doc comment with a text, facts in brackets, and tags. Returns no lines if the comment would be empty. */
export function toDocComment(text: string, facts = "", tags: readonly string[] = []): readonly string[] {
  const words = toSafeText(text.trim());
  const added = facts === "" ? "" : `[${toSafeText(facts)}]`;
  const paragraphs = words.includes("\n") ? [words, added] : [`${words} ${added}`.trim()];
  const lines = paragraphs
    .filter((paragraph) => paragraph !== "")
    .flatMap((paragraph) => paragraph.split("\n").flatMap(wrap))
    .map(toDocLine)
    .concat(tags);
  const [only = "", ...others] = lines;
  if (lines.length === 0) return [];
  return others.length === 0 ? [`/** ${only} */`] : ["/**", ...lines.map((line) => ` * ${line}`.trimEnd()), " */"];
}

/** Escapes the end of the comment, and any `@` that would begin a tag or a directive such as `@ts-expect-error`. */
function toDocLine(line: string): string {
  return line.replaceAll("*/", "*\\/").replace(/^(\s*)@/, "$1\\@");
}

function wrap(line: string): readonly string[] {
  if (line.length <= columns) return [line.trimEnd()];
  const lines: string[] = [];
  let rest = line;
  while (rest.length > columns) {
    const space = rest.lastIndexOf(" ", columns);
    if (space <= 0) break;
    lines.push(rest.slice(0, space).trimEnd());
    rest = rest.slice(space + 1);
  }
  return [...lines, rest.trimEnd()];
}

// Writes a generated file, with a first line that identifies it. Never overwrites a file that Fairlead did not
// generate.

const headerStart = "// Written by `fairlead generate ";

/**
 * Returns the first line, which names the command. It has no time and no version, so that the same catalogs always give
 * the same file.
 */
export function generatedBy(kind: "ts" | "cli", servers: readonly string[]): string {
  const words = servers.map((name) => toVisibleLine(toShellWord(name)));
  return `${headerStart}${kind} ${words.join(" ")}\`. Do not edit: run the command again.`;
}

/**
 * Writes the file.
 * @throws HostError `usage` if the file exists and was not generated
 */
export async function writeGenerated(
  given: string,
  text: string,
  { cwd, mode }: { readonly cwd: string; readonly mode?: number },
): Promise<"written" | "unchanged"> {
  const replace = (before: string | undefined): string => {
    if (before === undefined || before === "" || before.slice(0, 200).includes(headerStart)) return text;
    throw new HostError("usage", `${given} exists and was not written by fairlead generate`, {
      next: "delete this file, or choose another file with -o",
    });
  };
  return updateText(resolve(cwd, given), replace, mode === undefined ? {} : { mode });
}
