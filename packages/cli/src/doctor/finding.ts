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
/** The name of a group of findings. */
export type FindingGroup = (typeof findingGroups)[number];

/** `problem`: something does not work. `warning`: something works, but should be changed. `note`: for information. */
export type Severity = "ok" | "note" | "warning" | "problem";

/** One finding, not yet in a group. `next` is the command or edit that helps. */
export interface Observation {
  readonly severity: Severity;
  readonly server?: string;
  readonly message: string;
  readonly next?: string;
  /** The error code that other commands report for this problem. */
  readonly code?: ErrorCode;
}

/** Returns a finding that something works. */
export function ok(message: string): Observation {
  return { severity: "ok", message };
}

/** Returns a finding for information, with an optional next step. */
export function note(message: string, next?: string): Observation {
  return { severity: "note", message, next };
}

/** Returns a finding about something that works but should be changed. */
export function warning(message: string, next: string): Observation {
  return { severity: "warning", message, next };
}

/** Returns a finding about something that does not work, with the error's code and next step. */
export function problem({ code, message, next }: Pick<HostError, "code" | "message" | "next">): Observation {
  return { severity: "problem", code, message, next };
}

/** A finding and its group in the report. */
export interface DoctorFinding extends Observation {
  readonly group: FindingGroup;
}

/** Returns the findings with the group `group`. */
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
