/** The result of comparing one server with the lock file, as text and as JSON. */

import type { LockDrift } from "@fairlead/core/policy/lock/lock-drift";
import { joinSafe, type SafeText, safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import { errorOf, type LockCheck } from "../../lock/check-lock.ts";
import {
  driftDocument,
  driftText,
  errorLines,
  offerWords,
  type ToolDifferences,
  toolDifferences,
} from "./lock-report.ts";

export function checkedText(checked: LockCheck): SafeText {
  const { drift, look, isWithheld } = checked;
  const name = toVisibleLine(checked.name);
  const error = errorOf(checked);
  return joinSafe([
    ...(drift ? [safe`${name}: ${driftWords(drift)}${isWithheld ? safe`; it was not started` : safe``}`] : []),
    ...(drift?.kind === "changed" ? [driftText(drift, differences(checked, drift))] : []),
    ...(error ? [safe`${name}: cannot be checked: ${errorLines(error)}`] : []),
    ...(drift === undefined && look?.kind === "seen"
      ? [safe`${name}: matches the lock file (${offerWords(look.offer)})`]
      : []),
  ]);
}

function driftWords({ kind }: LockDrift): SafeText {
  switch (kind) {
    case "added":
      return safe`in the settings, but not locked`;
    case "removed":
      return safe`locked, but no longer in the settings`;
    case "changed":
      return safe`differs from the lock file`;
  }
}

function differences({ lock, look }: LockCheck, drift: LockDrift): ToolDifferences {
  return toolDifferences(drift, lock, look);
}

export function checkedDocument(checked: LockCheck): object {
  const { name, drift, isWithheld } = checked;
  const error = errorOf(checked);
  const state = drift ? "drifted" : error ? "unchecked" : "as_locked";
  return {
    name,
    state,
    ...(drift && driftDocument(drift, differences(checked, drift))),
    ...(isWithheld && { started: false }),
    ...(error && {
      error: { code: error.code, message: error.message, ...(error.next !== undefined && { next: error.next }) },
    }),
  };
}
