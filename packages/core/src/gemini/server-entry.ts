/** A server's entry of `mcpServers` that a program passes. It is checked as an entry of a settings file is. */

import { HostError } from "../errors.ts";
import { anObject, expectArguments, readMembers, type Wanted } from "../expect-arguments.ts";
import { defineServer } from "../settings/define/define.ts";
import { extrasFor } from "../settings/define/host-settings.ts";
import type { MCPServerConfig } from "../settings/define/server-config.ts";
import { whyNotServerName } from "../settings/define/server-name.ts";
import { textSource } from "../settings/read/source.ts";
import { checkSource } from "../settings/schema/checked.ts";

/** Accepts the name of a server. */
export const aServerName: Wanted = {
  words: "a string that is not blank, without invisible characters",
  accepts: (given) => typeof given === "string" && whyNotServerName(given) === undefined,
};

/**
 * Returns a copy of the entry, so that what was checked is what starts. Variables are looked up later, when the server
 * is connected. `parameter` is the entry's name in messages.
 *
 * @throws HostError `usage` that names the parameter
 */
export function checkServerEntry(
  call: string,
  parameter: string,
  name: string,
  config: MCPServerConfig,
): MCPServerConfig {
  expectArguments(call, { [parameter]: [config, anObject] });
  const wrong = (why: string, cause?: unknown): HostError =>
    new HostError("usage", `${call}: "${parameter}" is wrong: ${why}`, { serverName: name, cause });
  let text: string;
  try {
    text = entryText(name, config);
  } catch (cause) {
    throw wrong("it cannot be read as JSON", cause);
  }
  const source = checkSource(textSource(text));
  const entry = source.entries.get(name);
  if (entry === undefined) throw wrong(source.problems[0]?.message ?? "it is no entry");
  const { problems } = defineServer(name, entry.value, {
    source,
    at: entry.key,
    found: source.entryProblems.get(name) ?? [],
    extras: extrasFor(name, [source], "background", true),
    lookup: undefined,
    base: { home: "", folder: "" },
  });
  const problem = problems.find(({ severity }) => severity === "error");
  if (problem !== undefined) throw wrong(problem.message.replace(`server "${name}": `, ""));
  const { mcpServers } = JSON.parse(text) as { mcpServers: Record<string, MCPServerConfig> };
  return mcpServers[name] ?? {};
}

/** Checks all entries. @throws HostError `usage` that names the entry, such as `mcpServers.files` */
export function checkServerEntries(
  call: string,
  mcpServers: Readonly<Record<string, MCPServerConfig>>,
): Record<string, MCPServerConfig> {
  const entries = checkEntryObjects(call, mcpServers);
  const checked = Object.entries(entries).map(([name, config]) => {
    const parameter = `mcpServers.${name}`;
    expectArguments(call, { [`the name of ${parameter}`]: [name, aServerName] });
    return [name, checkServerEntry(call, parameter, name, config)];
  });
  return Object.fromEntries(checked) as Record<string, MCPServerConfig>;
}

/** Checks only that each entry is an object. @throws HostError `usage` that names the entry */
export function checkEntryObjects(
  call: string,
  mcpServers: Readonly<Record<string, MCPServerConfig>>,
): Record<string, MCPServerConfig> {
  expectArguments(call, { mcpServers: [mcpServers, anObject] });
  const wanted = Object.fromEntries(Object.keys(mcpServers).map((name) => [name, anObject]));
  return readMembers(call, mcpServers, wanted, "mcpServers.");
}

/** Settings that contain only this entry. */
export function entryText(name: string, config: MCPServerConfig): string {
  return JSON.stringify({ mcpServers: Object.fromEntries([[name, config]]) }, null, 2);
}
