/** How far calls are, on stderr: a line each time, since several may run at once. */

import type { TurnEvent } from "@fairlead/core/turn/events";
import { createLineLog, type ProgressLine } from "../output/reports/progress.ts";
import type { Context } from "../shell/verb.ts";
import { callName } from "./stderr-lines.ts";

export function createCallProgress({ io, globals }: Pick<Context, "io" | "globals">): (event: TurnEvent) => void {
  const lines = new Map<string, ProgressLine>();
  if (globals.quiet) return () => {};
  return (event) => {
    if (event.type === "call" && !lines.has(event.id)) lines.set(event.id, createLineLog(callName(event), io.stderr));
    if (event.type === "progress") lines.get(event.id)?.update(event);
  };
}
