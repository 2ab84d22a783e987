/** The repeatable option `--arg name=value`. */

import { HostError } from "@fairlead/core/errors";
import type { Command } from "commander";

export type NamedValue = readonly [name: string, value: string];

export function defineArgOption(command: Command, help: string): void {
  const add = (word: string, before: readonly NamedValue[] = []): readonly NamedValue[] => [
    ...before,
    toNamedValue(word),
  ];
  command.option("--arg <name=value>", help, add);
}

function toNamedValue(word: string): NamedValue {
  const named = splitNamed(word);
  if (named) return named;
  throw new HostError("usage", `--arg takes name=value, not "${word}"`);
}

/** Splits `name=value`; undefined if there is no name. */
export function splitNamed(word: string): NamedValue | undefined {
  const equals = word.indexOf("=");
  const name = word.slice(0, Math.max(0, equals));
  return name === "" || /\s/.test(name) ? undefined : [name, word.slice(equals + 1)];
}
