/** Decides whether the clients of a gateway share one connection to a server. Pure. */

import type { Peer } from "../../events.ts";
import type { ServerDefinition, SharedBy, StdioTransport } from "../../settings/define/definition.ts";

/** The facts, besides the server's definition, that decide whether clients share a connection. */
export interface SharingFacts {
  /** The protocol and transport of the current or the last connection. */
  readonly peer: Pick<Peer, "era" | "transport"> | undefined;
  /** Whether the server has asked a question without saying which of several clients it is for. */
  readonly asksBack: boolean;
}

/**
 * Decides which clients share a connection. With a modern protocol version, all clients share one. With a legacy
 * version, they share a stdio program if it gets no roots, keeps no state for one user, and has asked no question
 * without saying which client it is for.
 */
export function sharedBy(
  { extras, transport, resolved = transport }: Pick<ServerDefinition, "extras" | "transport" | "resolved">,
  { peer, asksBack }: SharingFacts,
): SharedBy {
  if (extras.share !== "auto") return extras.share;
  if (peer?.era === "modern") return "all";
  if (resolved.kind !== "stdio" || asksBack || extras.roots) return "client";
  return isStateful(resolved) ? "client" : "all";
}

/** For each program, whether it keeps state for one user. Cached, because every call through a gateway needs it. */
const stateful = new WeakMap<StdioTransport, boolean>();

function isStateful(transport: StdioTransport): boolean {
  const known = stateful.get(transport);
  if (known !== undefined) return known;
  const found = hasStatefulName(transport);
  stateful.set(transport, found);
  return found;
}

/**
 * Words in the names of programs that keep state for one user. An example of such state is a page that is open in a
 * browser.
 */
const statefulWords: ReadonlySet<string> = new Set([
  ..."playwright puppeteer devtools browser browsermcp browserbase selenium appium".split(" "),
  ..."shell bash powershell terminal iterm tmux ssh repl jupyter notebook interpreter debugger gdb lldb".split(" "),
  ..."desktop commander applescript computer mobile".split(" "),
]);

/** Launchers. Their arguments name the program that they start. */
const launchers: ReadonlySet<string> = new Set([
  ..."npx npm pnpm pnpx yarn bun bunx node deno tsx uv uvx pipx python python3 py".split(" "),
  ..."docker podman nerdctl cmd env sh bash".split(" "),
]);

function hasStatefulName({ command, args }: StdioTransport): boolean {
  const program = nameOf(command);
  // Leaves out assignments, and paths such as `/home/ada/Desktop`, because their words do not name the program.
  const named = launchers.has(program) ? args.filter((each) => !/^[-/~.]|^[a-z]:\\|=/i.test(each)) : [program];
  const scripts = launchers.has(program) ? args.filter((each) => /\.([cm]?[jt]s|py)$/i.test(each)).map(nameOf) : [];
  return [...named, ...scripts].some((name) => wordsOf(name).some((word) => statefulWords.has(word)));
}

function nameOf(path: string): string {
  const name = path.split(/[/\\]/).at(-1) ?? "";
  return name.toLowerCase().replace(/\.(exe|cmd|bat|ps1)$/, "");
}

function wordsOf(name: string): readonly string[] {
  return name.toLowerCase().split(/[^a-z0-9]+/);
}
