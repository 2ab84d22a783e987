/** Shared by list commands: the layout, and the server name argument. */

import type { Style } from "../../output/output.ts";
import { plainStyle } from "../captured.ts";
import type { Services } from "../services.ts";

/** Columns beside the text. */
const margin = 4;
const narrowest = 20;

export function lookFor({ session }: Services): { readonly style: Style; readonly columns: number } {
  return { style: plainStyle, columns: Math.max(narrowest, session.store.get().size.columns - margin) };
}

/** The server named in the line; undefined for all. @throws HostError `server_unknown` */
export function namedServer(line: string, { servers }: Services): string | undefined {
  const name = line.trim();
  return name === "" ? undefined : servers.stateOf(name).name;
}
