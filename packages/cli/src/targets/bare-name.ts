/** Refuses a bare tool name if an earlier server in the settings may have a tool of the same name. */

import { HostError } from "@fairlead/core/errors";
import type { Host } from "@fairlead/core/host";
import { toShellWord } from "@fairlead/core/text/shell-word";

interface NamedTool {
  readonly server: string;
  readonly serverToolName: string;
}

/**
 * Throws if an earlier server in the settings may have a tool of the same name: it is not connected and has no cached
 * catalog.
 * @throws HostError `usage`
 */
export function refuseUnsureName(word: string, tool: NamedTool, host: Pick<Host, "states" | "catalog">): void {
  if (word !== tool.serverToolName) return;
  const states = host.states();
  const earlier = states.slice(
    0,
    states.findIndex(({ name }) => name === tool.server),
  );
  const unread = earlier.find(
    ({ name, status }) => status !== "disabled" && status !== "blocked" && host.catalog(name) === undefined,
  );
  if (unread === undefined) return;
  throw new HostError(
    "usage",
    `"${word}" is ambiguous: "${unread.name}" comes first in your settings, is not connected, and may have a tool of this name`,
    { next: `fairlead call ${toShellWord(`${tool.server}.${tool.serverToolName}`)} …` },
  );
}
