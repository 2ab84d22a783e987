/** Converts tool names to names that OpenAI's and Anthropic's APIs accept, and back. */

import { createHash } from "node:crypto";
import type { Content, FunctionDeclaration } from "../normalise/model-types.ts";

/** Maps tool names of the host to tool names of the API, and back. */
export interface NameMap {
  /** Returns the name of a tool in the API. */
  readonly toApi: (name: string) => string;
  /** Returns the host's name of a tool. Returns an unknown name unchanged. */
  readonly toOurs: (name: string) => string;
}

const longest = 64;
const digestLength = 8;

/**
 * Maps tool names to names that OpenAI's and Anthropic's APIs accept: letters, digits, `_` and `-`, at most 64
 * characters. Valid names stay unchanged. Two names never become the same.
 */
export function mapNames(names: Iterable<string>): NameMap {
  const all = [...new Set(names)];
  const wanted = new Map<string, number>();
  for (const name of all) wanted.set(narrow(name), (wanted.get(narrow(name)) ?? 0) + 1);
  const given = new Map<string, string>();
  const meant = new Map<string, string>();
  for (const name of all) {
    const isAlone = wanted.get(narrow(name)) === 1;
    // A valid name stays unchanged. A changed name gets a suffix if it equals the name of another tool.
    const chosen =
      isAlone || narrow(name) === name ? narrow(name) : apart(name, (taken) => wanted.has(taken) || meant.has(taken));
    given.set(name, chosen);
    meant.set(chosen, name);
  }
  return { toApi: (name) => given.get(name) ?? narrow(name), toOurs: (name) => meant.get(name) ?? name };
}

/** Maps the names of all tools in a request: those that it declares, and those that the conversation has called. */
export function mapNamesOf(tools: readonly FunctionDeclaration[], messages: readonly Content[]): NameMap {
  const called = messages.flatMap(({ parts }) =>
    parts.flatMap(({ functionCall, functionResponse }) => functionCall?.name ?? functionResponse?.name ?? []),
  );
  return mapNames([...tools.map(({ name }) => name), ...called]);
}

function apart(name: string, isTaken: (candidate: string) => boolean): string {
  for (let text = name; ; ) {
    text = createHash("sha256").update(text).digest("hex");
    const candidate = `${narrow(name).slice(0, longest - digestLength - 1)}_${text.slice(0, digestLength)}`;
    if (!isTaken(candidate)) return candidate;
  }
}

function narrow(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, longest) || "_";
}
