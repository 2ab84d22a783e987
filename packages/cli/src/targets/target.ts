/** Finds the tool that a word such as `files.read` names. Names of servers and tools may contain dots. */

import { HostError } from "@fairlead/core/errors";
import type { Host } from "@fairlead/core/host";
import { possibleNames } from "@fairlead/core/normalise";
import { closest, toShellWord } from "@fairlead/core/plain-text";
import { nameHint } from "../shell/verb.ts";

/** A tool, by its server and by the name that this server uses for it. */
export interface ToolTarget {
  readonly server: string;
  readonly tool: string;
}

/** Returns the tool's name in the form `server.tool`. */
export function targetName({ server, tool }: ToolTarget): string {
  return `${server}.${tool}`;
}

/** A server whose tools `findToolTarget` may return. */
export interface TargetServer {
  readonly name: string;
  /** The names of the server's tools, from its catalog. Empty if there is no catalog. */
  readonly tools: readonly string[];
}

/**
 * Splits a word such as `files.read` into server and tool, with the help of the servers' tool lists.
 * @throws HostError `usage` if the word is ambiguous or does not have the form `server.tool`; `server_unknown` if it
 * names no configured server
 */
export function findToolTarget(word: string, servers: readonly TargetServer[]): ToolTarget {
  const candidates = servers
    .filter(({ name }) => word.startsWith(`${name}.`))
    .sort((a, b) => b.name.length - a.name.length)
    .map(({ name, tools }) => ({ server: name, tool: word.slice(name.length + 1), tools }));
  const matches = candidates.filter(({ tool, tools }) => tools.includes(tool));
  if (matches.length > 1) throw ambiguous(word, matches);
  // If no catalog has the tool, the longest server name that fits is used. A catalog may be out of date, so this is no
  // error yet.
  const [meant = candidates[0]] = matches;
  if (meant === undefined || meant.tool === "") throw unknown(word, servers);
  return { server: meant.server, tool: meant.tool };
}

function ambiguous(word: string, targets: readonly ToolTarget[]): HostError {
  const forms = targets.map(({ server, tool }) => `--server ${toShellWord(server)} --tool ${toShellWord(tool)}`);
  return new HostError("usage", `"${word}" is ambiguous: more than one tool matches`, {
    next: `use ${forms.join(" or ")}`,
  });
}

function unknown(word: string, servers: readonly TargetServer[]): HostError {
  const server = servers.find(({ name }) => name === word || `${name}.` === word);
  if (server)
    return new HostError("usage", `"${word}" is a server, not a tool`, {
      next: `fairlead tools ${toShellWord(server.name)}`,
    });
  const pairs = servers.flatMap(({ name, tools }) => tools.map((tool) => ({ tool, pair: `${name}.${tool}` })));
  const near =
    pairs.find(({ tool }) => tool === word)?.pair ??
    closest(
      word,
      pairs.map(({ pair }) => pair),
    );
  if (near !== undefined)
    return new HostError("server_unknown", `there is no tool "${word}"; did you mean "${near}"?`, {
      next: "fairlead tools",
    });
  const dot = word.indexOf(".");
  if (dot <= 0) return new HostError("usage", `"${word}" is not of the form server.tool`, { next: "fairlead tools" });
  const name = word.slice(0, dot);
  const suggestion = nameHint(
    name,
    servers.map((server) => server.name),
  );
  return new HostError("server_unknown", `there is no server "${name}"${suggestion}`, { next: "fairlead mcp list" });
}

// Tells which requests need no server, because a rule denies them by name.

type DeniableKind = "tool" | "resource" | "prompt";

/**
 * Whether a rule denies the user's request whatever the server lists. Fairlead then refuses it without starting the
 * server.
 */
export async function isDeniedByName(server: string, name: string, kind: DeniableKind, host: Host): Promise<boolean> {
  const state = host.states().find(({ name: each }) => each === server);
  // A server that is not allowed to start has its own reason.
  if (state === undefined || state.status === "blocked" || state.status === "disabled") return false;
  return (await host.explain(server, name, undefined, { kind, typed: true })).isDeniedByName;
}

/**
 * Returns the servers without a catalog at which a rule denies the tool or prompt that `word` names (a bare name,
 * `server__tool` or `server.tool`), or the resource with the URI `word`. No such server need be started to refuse the
 * request.
 *
 * @param typed Whether the user sends the request, not a model.
 */
export async function deniedOwners(
  word: string,
  host: Pick<Host, "states" | "catalog" | "explain">,
  typed: boolean,
  kind: DeniableKind = "tool",
): Promise<readonly ToolTarget[]> {
  const states = host.states();
  const isUri = kind === "resource";
  const named = isUri ? [] : states.filter(({ name }) => word.startsWith(`${name}.`));
  const unread = (named.length > 0 ? named : states).filter(
    ({ name, status }) => status !== "blocked" && status !== "disabled" && host.catalog(name) === undefined,
  );
  const found = unread.map(async ({ name: server }): Promise<readonly ToolTarget[]> => {
    const bare = isUri ? [word] : possibleNames(server, word);
    const tools = named.length > 0 ? [word.slice(server.length + 1)] : bare;
    const explained = await Promise.all(tools.map((tool) => host.explain(server, tool, undefined, { kind, typed })));
    // A call that only lacks a terminal to ask on may have a mistake in its name, which the server's list would show.
    const isDenied = explained.every(
      ({ isDeniedByName: each, decision }) => each && decision.rule.origin.source !== "built_in",
    );
    return isDenied ? tools.slice(0, 1).map((tool) => ({ server, tool })) : [];
  });
  return (await Promise.all(found)).flat();
}

// Refuses a bare tool name if an earlier server in the settings may have a tool of the same name.

interface NamedTool {
  readonly server: string;
  readonly serverToolName: string;
}

/**
 * Throws if an earlier server in the settings may have a tool of the same name: it is not connected and has no cached
 * catalog.
 * @throws HostError `usage`
 */
export function refuseUnsureName(word: string, tool: NamedTool, host: Pick<Host, "states" | "catalog">): void {
  if (word !== tool.serverToolName) return;
  const states = host.states();
  const earlier = states.slice(
    0,
    states.findIndex(({ name }) => name === tool.server),
  );
  const unread = earlier.find(
    ({ name, status }) => status !== "disabled" && status !== "blocked" && host.catalog(name) === undefined,
  );
  if (unread === undefined) return;
  throw new HostError(
    "usage",
    `"${word}" is ambiguous: "${unread.name}" comes first in your settings, is not connected, and may have a tool of this name`,
    { next: `fairlead call ${toShellWord(`${tool.server}.${tool.serverToolName}`)} …` },
  );
}
