/** What the doctor finds: how bad it is, its cause, and the one thing to do about it. Plain data; texts are raw. */

import type { ErrorCode } from "@fairlead/core/errors";

/** In the order in which they are shown. */
export const groups = [
  "settings",
  "trust",
  "policy",
  "programs",
  "network",
  "secrets",
  "state",
  "packages",
  "servers",
] as const;
export type Group = (typeof groups)[number];

/** `problem`: something does not work. `warning`: it works, and should not stay so. `note`: good to know. */
export type Severity = "ok" | "note" | "warning" | "problem";

export interface Observation {
  readonly severity: Severity;
  readonly server?: string;
  /** The cause, in one sentence. */
  readonly message: string;
  /** What to type or change. */
  readonly next?: string;
  /** Of a problem: what a command that meets it would end with. */
  readonly code?: ErrorCode;
}

export interface Finding extends Observation {
  readonly group: Group;
}

export function inGroup(group: Group, observations: readonly Observation[]): readonly Finding[] {
  return observations.map((observation) => ({ group, ...observation }));
}

/** What is said of one server, and what is said of none. */
export function concerning(findings: readonly Finding[], server: string | undefined): readonly Finding[] {
  return findings.filter(
    (finding) => server === undefined || finding.server === undefined || finding.server === server,
  );
}
