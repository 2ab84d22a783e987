/** Formats the servers' states for the status line: `3 ready · 1 starting (github 4 s) · 1 needs sign-in (mail)`. */

import type { ServerState } from "@fairlead/core/events";
import { demoName } from "@fairlead/core/host";
import { groupBy, waitWords } from "@fairlead/core/plain-text";
import { type SafeText, safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { ConversationTokens } from "@fairlead/core/turn";

/** The groups, in the order in which the status line shows them. */
const order = [
  "ready",
  "starting",
  "reconnecting",
  "stopping",
  "needs sign-in",
  "failed",
  "awaiting approval",
  "blocked",
  "idle",
] as const;
type Group = (typeof order)[number];

/** For these states, the status line also names the servers. */
const named: ReadonlySet<Group> = new Set(["starting", "reconnecting", "needs sign-in", "failed"]);
const mostNamed = 2;

/** Returns the number of servers in each state, or `no servers`. `now`: milliseconds on the session's clock. */
export function serverWords(servers: readonly ServerState[], now: number): string {
  const groups = groupBy(servers.filter(isOfInterest), (state) => groupOf(state) ?? "");
  const parts = order.flatMap((group) => {
    const members = groups.get(group) ?? [];
    if (members.length === 0) return [];
    const words = `${members.length} ${group}`;
    return named.has(group) ? `${words} (${names(members, now)})` : words;
  });
  return parts.length === 0 ? "no servers" : parts.join(" · ");
}

/** The demo server is shown only if no other server is configured. */
function isOfInterest({ name }: ServerState, _at: number, all: readonly ServerState[]): boolean {
  return name !== demoName || all.length === 1;
}

function names(members: readonly ServerState[], now: number): string {
  const shown = members.slice(0, mostNamed).map((state) => `${toVisibleLine(state.name)}${timeWords(state, now)}`);
  return [...shown, ...(members.length > mostNamed ? ["…"] : [])].join(", ");
}

/** Returns how long the server has been starting, or when Fairlead tries to connect again. */
function timeWords(state: ServerState, now: number): string {
  if (state.status === "disconnected" && state.reason === "backoff") return ` in ${waitWords(state.nextTryAt - now)}`;
  const seconds = Math.floor((now - state.since) / 1000);
  return groupOf(state) === "starting" && seconds > 0 ? ` ${seconds} s` : "";
}

/** Disabled servers have no group, because the status line does not show them. */
function groupOf(state: ServerState): Group | undefined {
  switch (state.status) {
    case "connected":
      return state.offer === undefined ? "starting" : "ready";
    case "connecting":
      return "starting";
    case "disconnecting":
      return "stopping";
    case "needs_auth":
      return "needs sign-in";
    case "disabled":
      return undefined;
    case "blocked":
      return state.reason === "awaiting_approval" || state.reason === "untrusted_folder"
        ? "awaiting approval"
        : "blocked";
    case "disconnected":
      return state.reason === "lazy" ? "idle" : state.reason === "backoff" ? "reconnecting" : "failed";
  }
}

/** Whether the status line shows seconds and must be redrawn every second. */
export function hasMoving(servers: readonly ServerState[]): boolean {
  return servers.some((state) => ["starting", "reconnecting"].includes(groupOf(state) ?? ""));
}

/**
 * Says how much of the model's context the next request uses: `12 % of the context: tools 1.2k, messages 9k, results
 * 5k`.
 */
export function contextWords({ declarations, history, results, context }: ConversationTokens): SafeText {
  const share = Math.round(((declarations + history) / context) * 100);
  const parts = safe`tools ${thousands(declarations)}, messages ${thousands(history - results)}, results ${thousands(results)}`;
  return safe`${share} % of the context: ${parts}`;
}

function thousands(count: number): SafeText {
  if (count < 1_000) return safe`${count}`;
  return safe`${count < 10_000 ? Math.round(count / 100) / 10 : Math.round(count / 1_000)}k`;
}
