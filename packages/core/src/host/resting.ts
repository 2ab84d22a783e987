/** Servers that nobody needs to bring back. Pure. */

import type { ServerState } from "../events.ts";

/** Nobody has wanted it yet, or somebody decided that it does not start. */
export function isResting(state: Omit<ServerState, "name">): boolean {
  if (state.status === "disabled" || state.status === "blocked") return true;
  return state.status === "disconnected" && "reason" in state && state.reason === "lazy";
}
