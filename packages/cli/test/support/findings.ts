/** What `fairlead doctor --json` found. */

import type { Ending } from "./machine.ts";

export interface Finding {
  readonly group: string;
  readonly severity: string;
  readonly server?: string;
  readonly message: string;
  readonly next?: string;
  readonly code?: string;
}

export function findingsOf({ stdout }: Pick<Ending, "stdout">): readonly Finding[] {
  const { findings } = JSON.parse(stdout) as { findings: readonly Finding[] };
  return findings;
}

/** All but what is in order. */
export function complaints(ending: Pick<Ending, "stdout">): readonly Finding[] {
  return findingsOf(ending).filter(({ severity }) => severity !== "ok");
}
