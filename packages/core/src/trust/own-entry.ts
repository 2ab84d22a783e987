/**
 * Finds entries that start Fairlead's own gateway. A gateway that starts itself as a server would start gateways
 * without end.
 */

import { HostError } from "../errors.ts";
import type { Transport } from "../settings/define/definition.ts";

/**
 * Fairlead's gateway sets this environment variable for its servers. So a process knows that a gateway has started it,
 * directly or through other processes.
 */
export const parentVariable = "FAIRLEAD_PARENT";

/** Whether the entry runs `fairlead serve`, directly or through a launcher such as `npx` or `node`. */
export function isOwnGateway(transport: Transport | undefined): boolean {
  if (transport?.kind !== "stdio") return false;
  const words = [transport.command, ...transport.args];
  const at = words.findIndex(isOurProgram);
  return at !== -1 && words.slice(at + 1).find((word) => !word.startsWith("-")) === "serve";
}

/** Matches `fairlead`, `fairlead@1.2.3`, `/usr/bin/fairlead`, `fairlead.cmd` and `…/fairlead/bin/fairlead.cjs`. */
function isOurProgram(word: string): boolean {
  const name = word.split(/[/\\]/).at(-1) ?? "";
  return /^fairlead(@[^/\\]*|\.(c?js|mjs|cmd|exe|ps1|bat))?$/i.test(name);
}

/**
 * Refuses to start a gateway inside another gateway.
 *
 * @throws HostError `usage` if another gateway started this process, directly or through other processes
 */
export function refuseNested(env: Readonly<Record<string, string | undefined>>): void {
  if (!env[parentVariable]) return;
  throw new HostError(
    "usage",
    "fairlead serve cannot start here: another fairlead serve started this process; nested gateways could start each other without end",
    {
      next: `Remove "fairlead serve" from the servers in settings.json, or unset ${parentVariable}.`,
    },
  );
}
