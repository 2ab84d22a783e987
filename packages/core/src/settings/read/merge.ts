/**
 * Merges the settings of all scopes into server definitions and host settings, and collects the problems of each
 * server.
 */

import { chooseEntries, type EntryCandidate, type EntryChoice } from "../define/candidates.ts";
import type { ConfiguredServer, DisablingOrigin, Origin, Problem, Settings } from "../define/definition.ts";
import {
  disabledBy,
  extrasFor,
  gatesOf,
  hostWide,
  machineAuthFor,
  privileges,
  publishedOriginOf,
} from "../define/host-settings.ts";
import { sandboxFor, saysSandbox } from "../define/sandbox-settings.ts";
import { type CheckedSource, checkSource } from "../schema/checked.ts";
import { childNode, switchOf } from "./nodes.ts";
import type { SettingsSource } from "./source.ts";
import { type LookupSources, lookupFor } from "./variables.ts";

/** Whether the workspace is trusted, and where variables are looked up. */
export interface MergeContext {
  readonly trusted: boolean;
  readonly lookup: LookupSources;
}

/** Validates and merges parsed settings files. Mistakes are in `problems` of the result. */
export async function merge(sources: readonly SettingsSource[], context: MergeContext): Promise<Settings> {
  const { trusted } = context;
  const checked = sources.map(checkSource);
  const counting = checked.filter(({ scope }) => trusted || scope !== "workspace");
  const { allowed, excluded, host, problems } = hostWide(counting);
  const choices = chooseEntries(checked, trusted);
  // Loads the code for definitions only if the settings contain servers.
  const define = choices.length > 0 ? (await import("../define/define.ts")).defineServer : undefined;
  const servers = define ? choices.map((choice) => configure(choice, counting, context, host.start, define)) : [];
  const found = [
    ...sources.flatMap((source) => source.problems),
    ...context.lookup.envFiles.problems,
    ...problems,
    ...checked.flatMap((source) => leftOver(source, choices, trusted)),
    ...servers.flatMap((server) => server.problems),
  ];
  return {
    files: sources.map(({ scope, file, state }) => ({
      scope,
      file,
      state: scope === "workspace" && state === "read" && !trusted ? "ignored" : state,
    })),
    servers,
    allowed,
    excluded,
    gates: gatesOf(counting),
    gateProblems: counting.flatMap((source) => source.gateProblems),
    switchedOff: switchedOff(counting),
    host,
    problems: inFileOrder(found, sources),
  };
}

function switchedOff(counting: readonly CheckedSource[]): ReadonlyMap<string, Origin> {
  const names = new Set(counting.flatMap(({ extras }) => [...extras.keys()]));
  return new Map(
    [...names].flatMap((name): [string, Origin][] => {
      const origin = disabledBy(name, counting);
      return origin === undefined ? [] : [[name, origin]];
    }),
  );
}

type Define = typeof import("../define/define.ts").defineServer;

function configure(
  { winner, shadowed, idleLines }: EntryChoice,
  counting: readonly CheckedSource[],
  { trusted, lookup }: MergeContext,
  start: "background" | "lazy",
  define: Define,
): ConfiguredServer {
  const { name, source, at, entry } = winner;
  const isWorkspace = source.scope === "workspace";
  const privileged = !isWorkspace || shadowed.length === 0;
  const extras = { ...extrasFor(name, counting, start, privileged), origin: publishedOriginOf(name, source) };
  const machine = machineAuthFor(name, counting, privileged);
  const found = [
    ...winner.problems,
    ...counting.flatMap(({ extrasProblems }) => extrasProblems.get(name) ?? []),
    ...idleLines.map(idleLine),
  ];
  if (!privileged) found.push(...withheld(name, counting));
  const { home } = lookup.environment;
  const disabling = disabledBy(name, counting) ?? disabledInEntry(winner);
  const defined =
    entry &&
    define(name, entry, {
      source,
      at,
      extras,
      sandbox: sandboxFor({ name, source, entry, privileged }, counting),
      machine: machine && { ...machine, lookup: lookupFor(machine.source.scope, lookup) },
      found,
      lookup: isWorkspace && !trusted ? undefined : lookupFor(source.scope, lookup),
      base: { home, folder: isWorkspace ? lookup.root : home },
    });
  return {
    name,
    scope: source.scope,
    origin: source.originOf(at),
    kind: defined?.kind,
    shadows: shadowed.map((other) => other.source.originOf(other.at)),
    enabled: disabling === undefined,
    disabledBy: disabling,
    definition: defined?.definition,
    saysSandbox: saysSandbox({ name, entry }, counting),
    problems: defined?.problems ?? found,
  };
}

function disabledInEntry({ source, entry }: EntryCandidate): DisablingOrigin | undefined {
  const node = childNode(entry, "disabled");
  return node !== undefined && switchOf(node) === true ? { ...source.originOf(node), inEntry: true } : undefined;
}

function idleLine({ source, at }: EntryCandidate): Problem {
  return {
    severity: "warning",
    code: "settings_invalid",
    message: 'mcp.serverCommand has no effect: there is an entry named "mcp"',
    origin: source.originOf(at),
    serverName: "mcp",
  };
}

/**
 * Warns if the user gave rights to an entry, and a workspace entry replaces it. The new entry does not get these
 * rights.
 */
function withheld(name: string, sources: readonly CheckedSource[]): readonly Problem[] {
  return sources
    .filter(({ scope }) => scope !== "workspace")
    .flatMap((source) => {
      const given = source.extras.get(name)?.value;
      return privileges.flatMap((key) => {
        const node = childNode(given, key);
        if (node === undefined) return [];
        const message = `server "${name}": "${key}" was granted to your entry, so it does not apply to the workspace entry that replaces it`;
        const origin = source.originOf(node);
        return { severity: "warning", code: "settings_invalid", message, origin, serverName: name };
      });
    });
}

/**
 * The problems of a file that no chosen entry has: those of other keys, and those of entries without effect, as
 * warnings.
 */
function leftOver(source: CheckedSource, choices: readonly EntryChoice[], trusted: boolean): readonly Problem[] {
  const winners = new Set(choices.filter(({ winner }) => winner.source === source).map(({ winner }) => winner.name));
  const names = new Set(choices.map(({ winner }) => winner.name));
  const counts = trusted || source.scope !== "workspace";
  const unused = [
    ...[...source.entryProblems].filter(([name]) => !winners.has(name)),
    ...[...source.extrasProblems].filter(([name]) => !counts || !names.has(name)),
  ].flatMap(([, problems]) => problems.map(withoutServer));
  return (counts ? source.otherProblems : source.otherProblems.map(withoutServer)).concat(unused);
}

function withoutServer({ code, message, origin, next }: Problem): Problem {
  return { severity: "warning", code, message, origin, next };
}

function inFileOrder(problems: readonly Problem[], sources: readonly SettingsSource[]): readonly Problem[] {
  // Problems in files that are not settings files, such as `.env` files, come last.
  const files = new Map(sources.map(({ file }, index) => [file, index]));
  const rank = ({ origin }: Problem): number => files.get(origin?.file ?? "") ?? sources.length;
  return problems.toSorted(
    (a, b) =>
      rank(a) - rank(b) ||
      (a.origin?.line ?? 0) - (b.origin?.line ?? 0) ||
      (a.origin?.column ?? 0) - (b.origin?.column ?? 0),
  );
}
