/** Tells idle servers from servers in use. Pure. */

import type { ServerState } from "../../events.ts";

/** Whether the server has not been used yet (`lazy`), is disabled or is blocked. */
export function isIdle(state: Omit<ServerState, "name">): boolean {
  if (state.status === "disabled" || state.status === "blocked") return true;
  return state.status === "disconnected" && "reason" in state && state.reason === "lazy";
}
