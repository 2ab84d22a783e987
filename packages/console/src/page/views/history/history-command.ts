/** The command that shows the same part of the history in a terminal. */

import { toShellWord } from "@fairlead/core/text/shell-word";
import type { Params } from "../../../protocol/commands.ts";

export function historyCommand({ server, client, outcome }: Params<"history/list">): string {
  const parts = [
    "fairlead history",
    option("--server", server),
    option("--client", client),
    outcome === "denied" ? "--denied" : "",
  ];
  return parts.filter(Boolean).join(" ");
}

function option(name: string, value: string | undefined): string {
  return value === undefined ? "" : `${name} ${toShellWord(value)}`;
}
