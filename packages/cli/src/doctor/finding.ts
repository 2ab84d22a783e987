/** What the doctor finds: how bad it is, its cause, and the one thing to do about it. Plain data; texts are raw. */

import type { ErrorCode } from "@fairlead/core/errors";

/** In the order in which they are shown. */
export const findingGroups = [
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
export type FindingGroup = (typeof findingGroups)[number];

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

export interface DoctorFinding extends Observation {
  readonly group: FindingGroup;
}

export function inGroup(group: FindingGroup, observations: readonly Observation[]): readonly DoctorFinding[] {
  return observations.map((observation) => ({ group, ...observation }));
}

/** What is said of one server, and what is said of none. */
export function concerning(findings: readonly DoctorFinding[], server: string | undefined): readonly DoctorFinding[] {
  return findings.filter(
    (finding) => server === undefined || finding.server === undefined || finding.server === server,
  );
}
