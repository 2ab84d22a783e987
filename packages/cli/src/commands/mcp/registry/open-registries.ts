/** Opens the MCP registries that a command reads, and writes the command lines of their servers. */

import type { Configuration } from "@fairlead/core/trust";
import { type McpRegistry, officialRegistry, openRegistry } from "@fairlead/registry/registry/mcp-registry";
import type { Command } from "commander";
import type { Io } from "../../../shell/verb.ts";

/** Adds `--registry` to the command. */
export function registryOption(command: Command): void {
  command.option(
    "--registry <address>",
    "read this registry instead of those of the settings: an https address, a JSON file or a folder (repeatable)",
    (word: string, before?: readonly string[]): readonly string[] => [...(before ?? []), word],
  );
}

/** The registries of `--registry`, else of the settings, else the official one. */
export function registriesFor(
  { environment, locations, settings }: Configuration,
  { signal }: Pick<Io, "signal">,
  typed: readonly string[] = [],
): readonly McpRegistry[] {
  const set = settings.host.registries;
  const addresses = [typed, set, [officialRegistry]].find((list) => list.length > 0) ?? [];
  // Paths in the settings begin at home, not in the folder where the command happens to run.
  const at = typed.length > 0 ? environment : { ...environment, cwd: environment.home };
  return [...new Set(addresses)].map((address) =>
    openRegistry(address, { environment: at, state: locations.state, signal }),
  );
}

/** Words as a command line, options included. */
export function typedLine(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}
