/** What lists in the app have in common: how wide they are, and whose they are. */

import type { Style } from "../../output/output.ts";
import { plainStyle } from "../captured.ts";
import type { Services } from "../services.ts";

/** What stands beside the text on the screen. */
const margin = 4;
const narrowest = 20;

export function lookFor({ session }: Services): { readonly style: Style; readonly columns: number } {
  return { style: plainStyle, columns: Math.max(narrowest, session.store.get().size.columns - margin) };
}

/** Undefined: all. Throws for a server that there is not. */
export function namedServer(line: string, { servers }: Services): string | undefined {
  const name = line.trim();
  return name === "" ? undefined : servers.stateOf(name).name;
}
