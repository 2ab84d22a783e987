/** The flags of what a host's servers say about themselves: of a whole catalog, and of what a confirmation is about. */

import type { Catalog } from "../server/catalog.ts";
import type { Server } from "../server/server.ts";
import type { Servers } from "../server/servers.ts";
import { type Flag, flagsOf, otherNames } from "../text/flags.ts";

/** A flag, and what it is about. */
export interface ServerFlag extends Flag {
  readonly server: string;
  readonly kind: "tool" | "prompt" | "resource" | "template" | "skill" | "instructions";
  /** The server's name for the tool or prompt, or the address of the resource. Empty for the server's instructions. */
  readonly name: string;
}

/** What is flagged in a request: a tool, prompt, resource or skill of a server. */
export interface Flagged {
  readonly serverName: string;
  readonly serverToolName: string;
  readonly kind?: string | undefined;
}

/** Flags of the catalogs of these servers. `all`: also those whose names other servers' texts may mention. */
export function flagsOfServers(meant: readonly Server[], all: Servers): readonly ServerFlag[] {
  return meant.flatMap((server) => {
    const catalog = catalogOf(server);
    if (catalog === undefined) return [];
    const others = othersOf(server.name, all);
    return itemsOf(catalog).flatMap(({ kind, name, item }) =>
      flagsOf(item, { others }).map((flag) => ({ server: server.name, kind, name, ...flag })),
    );
  });
}

/** Flags of the one item that a request is for, in `listed` if a connection lists it in its own way. */
export function flagsOfRequest(
  { serverName, serverToolName, kind = "tool" }: Flagged,
  all: Servers,
  listed?: object,
): readonly Flag[] {
  const server = all.find(serverName);
  const catalog = server && catalogOf(server);
  const item =
    listed ?? (catalog && itemsOf(catalog).find((each) => each.kind === kind && each.name === serverToolName)?.item);
  return item === undefined ? [] : flagsOf(item, { others: othersOf(serverName, all) });
}

function catalogOf(server: Server): Catalog | undefined {
  return server.catalog?.catalog;
}

interface Item extends Pick<ServerFlag, "kind" | "name"> {
  readonly item: object;
}

function itemsOf({
  tools,
  prompts,
  resources,
  resourceTemplates,
  skills = [],
  instructions,
}: Catalog): readonly Item[] {
  return [
    ...(instructions === undefined ? [] : [{ kind: "instructions" as const, name: "", item: { instructions } }]),
    ...tools.map((item) => ({ kind: "tool" as const, name: item.name, item })),
    ...prompts.map((item) => ({ kind: "prompt" as const, name: item.name, item })),
    ...resources.map((item) => ({ kind: "resource" as const, name: item.uri, item })),
    ...resourceTemplates.map((item) => ({ kind: "template" as const, name: item.uriTemplate, item })),
    ...skills.map(({ uri, name, description }) => ({ kind: "skill" as const, name: uri, item: { name, description } })),
  ];
}

/** A tool's name without a separator is a word of any text. */
const isDistinct = (name: string): boolean => /[a-z][_-][a-z]|[a-z][A-Z]/.test(name);

function othersOf(own: string, all: Servers): ReadonlySet<string> {
  const names: string[] = [];
  const ownTools = new Set<string>();
  for (const { name } of all.states()) {
    const tools = all.find(name)?.catalog?.catalog.tools ?? [];
    if (name === own) for (const tool of tools) ownTools.add(tool.name);
    else names.push(name, ...tools.map((tool) => tool.name).filter(isDistinct));
  }
  return otherNames(names.filter((name) => !ownTools.has(name) && name !== own));
}
