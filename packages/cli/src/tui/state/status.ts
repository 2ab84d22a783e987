/** How the servers are, in one line: `3 ready · 1 starting (github 4 s) · 1 needs sign-in`. Pure. */

import type { ServerState } from "@fairlead/core/events";
import { demoName } from "@fairlead/core/host";
import { toVisibleLine } from "@fairlead/core/text/safe-text";
import { groupBy } from "../../output/group-by.ts";

type Group =
  | "ready"
  | "starting"
  | "needs sign-in"
  | "failed"
  | "awaiting approval"
  | "blocked"
  | "resting"
  | "stopping";

const order: readonly Group[] = [
  "ready",
  "starting",
  "stopping",
  "needs sign-in",
  "failed",
  "awaiting approval",
  "blocked",
  "resting",
];

/** Groups whose servers are named, with how long it has been so far where that matters. */
const named: ReadonlySet<Group> = new Set(["starting", "needs sign-in", "failed"]);
const mostNamed = 2;

export function serverWords(servers: readonly ServerState[], now: number): string {
  const groups = groupBy(servers.filter(isOfInterest), (state) => groupOf(state) ?? "");
  const parts = order.flatMap((group) => {
    const members = groups.get(group) ?? [];
    if (members.length === 0) return [];
    const words = `${members.length} ${group}`;
    return named.has(group) ? `${words} (${names(members, group, now)})` : words;
  });
  return parts.length === 0 ? "no servers" : parts.join(" · ");
}

/** The demo server is there for who has no other. */
function isOfInterest({ name }: ServerState, _at: number, all: readonly ServerState[]): boolean {
  return name !== demoName || all.length === 1;
}

function names(members: readonly ServerState[], group: Group, now: number): string {
  const shown = members.slice(0, mostNamed).map(({ name: raw, since }) => {
    const name = toVisibleLine(raw);
    const seconds = Math.floor((now - since) / 1000);
    return group === "starting" && seconds > 0 ? `${name} ${seconds} s` : name;
  });
  return [...shown, ...(members.length > mostNamed ? ["…"] : [])].join(", ");
}

/** Undefined: it is off because the person wants that. */
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
      return state.reason === "lazy" ? "resting" : state.reason === "backoff" ? "starting" : "failed";
  }
}

/** Whether the line changes by itself as time goes by. */
export function hasMoving(servers: readonly ServerState[]): boolean {
  return servers.some((state) => groupOf(state) === "starting");
}
