/** The type of doctor's findings: severity, cause and next step. The texts may contain control characters. */

import type { ErrorCode, HostError } from "@fairlead/core/errors";

/** The groups of findings, in the order in which they are shown. */
export const findingGroups = [
  "settings",
  "trust",
  "policy",
  "programs",
  "network",
  "secrets",
  "state",
  "packages",
  "clients",
  "servers",
] as const;
export type FindingGroup = (typeof findingGroups)[number];

/** `problem`: something does not work. `warning`: something works, but should be changed. `note`: for information. */
export type Severity = "ok" | "note" | "warning" | "problem";

export interface Observation {
  readonly severity: Severity;
  readonly server?: string;
  readonly message: string;
  readonly next?: string;
  /** The error code that other commands report for this problem. */
  readonly code?: ErrorCode;
}

export function ok(message: string): Observation {
  return { severity: "ok", message };
}

export function note(message: string, next?: string): Observation {
  return { severity: "note", message, ...(next !== undefined && { next }) };
}

export function warning(message: string, next: string): Observation {
  return { severity: "warning", message, next };
}

export function problem({ code, message, next }: Pick<HostError, "code" | "message" | "next">): Observation {
  return { severity: "problem", code, message, ...(next !== undefined && { next }) };
}

export interface DoctorFinding extends Observation {
  readonly group: FindingGroup;
}

export function inGroup(group: FindingGroup, observations: readonly Observation[]): readonly DoctorFinding[] {
  return observations.map((observation) => ({ group, ...observation }));
}

/**
 * Returns the findings about `server`, and the findings that are not about a single server. If `server` is undefined,
 * returns all findings.
 */
export function concerning(findings: readonly DoctorFinding[], server: string | undefined): readonly DoctorFinding[] {
  return findings.filter(
    (finding) => server === undefined || finding.server === undefined || finding.server === server,
  );
}
