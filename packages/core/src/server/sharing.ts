/** Decides whether gateway clients share one connection to a server. Pure. */

import type { Peer } from "../events.ts";
import type { ServerDefinition, SharedBy, StdioTransport } from "../settings/define/definition.ts";

/** What the decision depends on besides the server's definition. */
export interface SharingFacts {
  /** The protocol and transport of the current or the last connection. */
  readonly peer: Pick<Peer, "era" | "transport"> | undefined;
  /** Whether the server has sent a request, or may send one, without saying for which client. */
  readonly asksBack: boolean;
}

/**
 * Decides which clients share a connection. If the setting `share` is `auto`: with a modern protocol version, all
 * clients share one. With a legacy version, they share it only if the server is a stdio program without roots and
 * without state for one user. The server must also never have sent a request: it would not say for which client.
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

/** Whether a program keeps state for one user. Cached, because each call through a gateway needs it. */
const stateful = new WeakMap<StdioTransport, boolean>();

function isStateful(transport: StdioTransport): boolean {
  const cached = stateful.get(transport);
  if (cached !== undefined) return cached;
  const found = hasStatefulName(transport);
  stateful.set(transport, found);
  return found;
}

/** Words in the names of programs that keep state for one user, such as an open page in a browser. */
const statefulWords: ReadonlySet<string> = new Set([
  ..."playwright puppeteer devtools browser browsermcp browserbase selenium appium".split(" "),
  ..."shell bash powershell terminal iterm tmux ssh repl jupyter notebook interpreter debugger gdb lldb".split(" "),
  ..."desktop commander applescript computer mobile".split(" "),
]);

/** Programs that start another program. Their arguments contain its name. */
const launchers: ReadonlySet<string> = new Set([
  ..."npx npm pnpm pnpx yarn bun bunx node deno tsx uv uvx pipx python python3 py".split(" "),
  ..."docker podman nerdctl cmd env sh bash".split(" "),
]);

function hasStatefulName({ command, args }: StdioTransport): boolean {
  const program = nameOf(command);
  // Assignments and paths such as `/home/ada/Desktop` do not name the program.
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
