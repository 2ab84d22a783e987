/** For each server name, chooses the entry of one scope, and lists the entries that this entry overrides. */

import type { Node } from "../../files/json/jsonc.ts";
import { isOwnServer, ownEntryName } from "../own-server.ts";
import { plainValueOf, stringNode } from "../read/nodes.ts";
import type { CheckedSource } from "../schema/checked.ts";
import { splitShellLine } from "../shell-line.ts";
import type { Problem, Scope } from "./definition.ts";

/** An entry for a server name in one settings file. */
export interface EntryCandidate {
  readonly name: string;
  readonly source: CheckedSource;
  /** The syntax node of the server's name. Messages show the position of this node. */
  readonly at: Node;
  /** The syntax node of the entry. Undefined if Fairlead refused the command line in `mcp.serverCommand`. */
  readonly entry: Node | undefined;
  readonly problems: readonly Problem[];
  /** Whether the entry comes from `mcp.serverCommand`. */
  readonly fromLine: boolean;
}

/** The entry that applies to one server name, and the entries that have no effect. */
export interface EntryChoice {
  readonly winner: EntryCandidate;
  readonly shadowed: readonly EntryCandidate[];
  /** The values of `mcp.serverCommand` that have no effect, because an entry named `mcp` exists. */
  readonly idleLines: readonly EntryCandidate[];
}

/**
 * Servers are listed in this order of scopes. If two servers have tools with the same name, the first server's tool
 * gets no prefix.
 */
const order: readonly Scope[] = ["user", "workspace", "system", "system-defaults"];

/**
 * Chooses the entry for each server name. `sources` are the settings files, weakest scope first. An entry of an
 * untrusted workspace counts only if no other file has an entry with the same name.
 */
export function chooseEntries(sources: readonly CheckedSource[], trusted: boolean): readonly EntryChoice[] {
  const byName = new Map<string, EntryCandidate[]>();
  const inOrder = [...sources].sort((a, b) => order.indexOf(a.scope) - order.indexOf(b.scope));
  for (const candidate of inOrder.flatMap(candidatesOf))
    byName.set(candidate.name, [...(byName.get(candidate.name) ?? []), candidate]);
  return [...byName.values()].flatMap((candidates) => choose(candidates, sources, trusted) ?? []);
}

function choose(
  candidates: readonly EntryCandidate[],
  sources: readonly CheckedSource[],
  trusted: boolean,
): EntryChoice | undefined {
  const weakestFirst = candidates.toSorted((a, b) => sources.indexOf(a.source) - sources.indexOf(b.source));
  const counted = weakestFirst.filter(({ source }) => trusted || source.scope !== "workspace");
  const pool = counted.length > 0 ? counted : weakestFirst;
  const written = pool.filter(({ fromLine }) => !fromLine);
  const effective = written.length > 0 ? written : pool;
  const winner = effective.at(-1);
  return (
    winner && { winner, shadowed: effective.slice(0, -1), idleLines: pool.filter((line) => !effective.includes(line)) }
  );
}

function candidatesOf(source: CheckedSource): readonly EntryCandidate[] {
  // Leaves out the entry that `fairlead connect gemini` wrote. Fairlead reads Gemini CLI's settings file too, and this
  // entry would start Fairlead itself.
  const written = [...source.entries.values()]
    .filter(({ name, value }) => name !== ownEntryName || !isOwnServer(name, plainValueOf(value)))
    .map(({ name, key, value }) => ({
      name,
      source,
      at: key,
      entry: value,
      fromLine: false,
      problems: source.entryProblems.get(name) ?? [],
    }));
  const node = source.read("mcp", "serverCommand");
  const line = stringNode(node);
  return node === undefined || line === undefined ? written : [...written, fromLine(source, node, line)];
}

function fromLine(source: CheckedSource, node: Node, line: string): EntryCandidate {
  const candidate = { name: "mcp", source, at: node, fromLine: true };
  const split = splitShellLine(line);
  if (split.kind === "words") return { ...candidate, entry: entryOf(node, split.words), problems: [] };
  const problem: Problem = {
    severity: "error",
    code: "settings_invalid",
    message: `server "mcp": mcp.serverCommand has a mistake at character ${split.at}: ${split.reason}`,
    origin: source.originOf(node),
    serverName: "mcp",
    next: "Write an entry with command and args under mcpServers instead.",
  };
  return { ...candidate, entry: undefined, problems: [problem] };
}

/**
 * Creates the `mcpServers` entry for a command line. All syntax nodes of the entry have the position of the command
 * line.
 */
function entryOf({ offset, length }: Node, words: readonly string[]): Node {
  const text = (value: string): Node => ({ type: "string", value, offset, length });
  const property = (name: string, value: Node): Node => ({
    type: "property",
    offset,
    length,
    children: [text(name), value],
  });
  const [command = "", ...args] = words;
  const children = [
    property("command", text(command)),
    property("args", { type: "array", offset, length, children: args.map(text) }),
  ];
  return { type: "object", offset, length, children };
}
