/** Checks policy files, approvals and the lock file. Pure. */

import type { HostError } from "@fairlead/core/errors";
import type { Policies } from "@fairlead/core/policy/rules/load-policies";
import type { Problem } from "@fairlead/core/settings/define/definition";
import { count } from "../output/output.ts";
import type { Observation } from "./finding.ts";

export interface PolicyFacts extends Pick<Policies, "problems" | "files"> {
  /** Errors of reading the approvals or the lock file. */
  readonly failures: readonly HostError[];
}

export function checkPolicy({ problems, files, failures }: PolicyFacts): readonly Observation[] {
  const read = files.filter(({ state }) => state === "read");
  return [
    ...(read.length === 0 ? [] : [{ severity: "ok", message: `${count(read.length, "policy file")} read` } as const]),
    ...problems.map(toObservation),
    ...failures.map(({ message, code, next }) => ({
      severity: "problem" as const,
      code,
      message,
      ...(next !== undefined && { next }),
    })),
  ];
}

function toObservation({ severity, code, message, origin, next }: Problem): Observation {
  return {
    severity: severity === "error" ? "problem" : "warning",
    message: origin === undefined ? message : `${origin.file}:${origin.line}:${origin.column}: ${message}`,
    next: next ?? "fairlead policy list",
    ...(severity === "error" && { code }),
  };
}
