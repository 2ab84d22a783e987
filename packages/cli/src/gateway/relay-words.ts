/** Parses the arguments of `fairlead serve` that a relay handles itself, without loading the command. */

import { resolve } from "node:path";
import { parentVariable } from "@fairlead/core/trust/own-entry";
import type { RelayClient } from "@fairlead/gateway/relay/speech";

/** The name that rules and the history use for a client that gives no name. */
export const unnamedClient = "stdio";

type Options = { -readonly [Name in keyof RelayClient]?: RelayClient[Name] };

/**
 * Parses the words after `fairlead serve`. Returns undefined if the full command must run: for `--help`, `--http` and
 * other options that the relay does not handle, for a wrong value, and if a Fairlead gateway started this process.
 */
export function readRelayWords(
  words: readonly string[],
  { cwd, env }: Pick<RelayClient, "cwd" | "env">,
): RelayClient | undefined {
  if (env[parentVariable]) return undefined;
  const options: Options = {};
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (word === "--no-workspace") options.workspace = false;
    else if (word === "--trust-workspace") options.trustWorkspace = true;
    else if (word !== "--quiet" && word !== "-q") {
      const [name, inline] = split(word);
      const value = inline ?? words[at + 1];
      const take = takers[name];
      if (take === undefined || value === undefined || value === "" || value.startsWith("-")) return undefined;
      if (inline === undefined) at += 1;
      take(options, value, cwd);
    }
  }
  const { name = unnamedClient, workspace = true, trustWorkspace = false, ...rest } = options;
  return { name, cwd, env, workspace, trustWorkspace, ...rest };
}

function split(word: string): readonly [name: string, value?: string] {
  const at = word.indexOf("=");
  return at === -1 || !word.startsWith("--") ? [word] : [word.slice(0, at), word.slice(at + 1)];
}

const takers: Readonly<Record<string, (options: Options, value: string, cwd: string) => void>> = {
  "--client": (options, value) => {
    options.name = value;
  },
  "--servers": (options, value) => {
    options.servers = listIn(value);
  },
  "--tools": (options, value) => {
    options.tools = listIn(value);
  },
  "--settings": (options, value, cwd) => {
    options.settings = resolve(cwd, value);
  },
  "-C": (options, value, cwd) => {
    options.root = resolve(cwd, value);
  },
};

/** Splits names that are separated by commas. */
export function listIn(words: string): readonly string[] {
  return words
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}
