/** Tells servers that have not been used, or may not start, from the others. Pure. */

import type { ServerState } from "../../events.ts";

/** It has not been used yet (`lazy`), or it is disabled or blocked. */
export function isIdle(state: Omit<ServerState, "name">): boolean {
  if (state.status === "disabled" || state.status === "blocked") return true;
  return state.status === "disconnected" && "reason" in state && state.reason === "lazy";
}
