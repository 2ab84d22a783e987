/** Formats the outcomes of `fairlead test` as text, as JSON and as JUnit XML. */

import type { CheckOutcome } from "@fairlead/core/checks/run-checks";
import { HostError } from "@fairlead/core/errors";
import { joinSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { errorDocument } from "../output/error-lines.ts";
import type { Output } from "../output/output.ts";

/** The outcomes of the checks in one file. `error` is set if the file is invalid or its server could not be reached. */
export interface FileReport {
  readonly file: string;
  readonly server?: string;
  readonly outcomes: readonly CheckOutcome[];
  readonly error?: HostError;
}

function isPassed({ outcomes, error }: FileReport): boolean {
  return error === undefined && outcomes.every(({ status }) => status !== "failed");
}

const symbols = { passed: "✓", updated: "↻", failed: "✗" } as const;

/** Returns one line for a check, and one line for each of its problems. */
export function outcomeText({ name, status, durationMs, problems }: CheckOutcome, style: Output["style"]): SafeText {
  const symbol = status === "failed" ? style.red(safe`✗`) : style.green(toSafeLine(symbols[status]));
  const note = status === "updated" ? safe`, snapshot written` : safe``;
  return joinSafe([
    safe`  ${symbol} ${toSafeLine(name)} (${Math.round(durationMs)} ms${note})`,
    ...problems.map((problem) => safe`      ${toSafeLine(problem)}`),
  ]);
}

/** Returns the output of `fairlead test --json`. */
export function checksDocument(reports: readonly FileReport[]): object {
  return {
    ok: reports.every(isPassed),
    files: reports.map(({ file, server, outcomes, error }) => ({
      file,
      server,
      ok: isPassed({ file, outcomes, error }),
      checks: outcomes.map(({ durationMs, ...outcome }) => ({ ...outcome, durationMs: Math.round(durationMs) })),
      error: error && errorDocument(error),
    })),
  };
}

/** Returns JUnit XML for CI services: a test suite for each file, a test case for each check. */
export function junitText(reports: readonly FileReport[]): string {
  const suites = reports.map((report) => {
    const { file, outcomes, error } = report;
    const cases = outcomes.map(({ name, tool = "tools", status, durationMs, problems }) => {
      const open = `    <testcase classname="${xml(tool)}" name="${xml(name)}" time="${seconds(durationMs)}"`;
      if (status !== "failed") return `${open}/>`;
      const [first = ""] = problems;
      return `${open}>\n      <failure message="${xml(first)}">${xml(problems.join("\n"))}</failure>\n    </testcase>`;
    });
    if (error)
      cases.push(
        `    <testcase classname="server" name="connect">\n      <error message="${xml(error.message)}"/>\n    </testcase>`,
      );
    const failures = outcomes.filter(({ status }) => status === "failed").length;
    const total = outcomes.reduce((sum, { durationMs }) => sum + durationMs, 0);
    const counts = `tests="${cases.length}" failures="${failures}" errors="${error ? 1 : 0}" time="${seconds(total)}"`;
    return `  <testsuite name="${xml(file)}" ${counts}>\n${cases.join("\n")}\n  </testsuite>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join("\n")}\n</testsuites>\n`;
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3);
}

/**
 * Escapes text for XML. Replaces characters that XML 1.0 forbids, because a server's text may contain any character.
 */
function xml(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, "\u{fffd}")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("\n", "&#10;");
}

/**
 * Makes the command fail, unless all checks passed.
 *
 * @throws HostError `diverged` if a check failed or a file could not be tested
 */
export function failUnlessPassed(reports: readonly FileReport[]): void {
  const failed = reports.flatMap(({ outcomes }) => outcomes).filter(({ status }) => status === "failed").length;
  const broken = reports.filter(({ error }) => error !== undefined).length;
  if (failed + broken === 0) return;
  const checks = reports.flatMap(({ outcomes }) => outcomes).length;
  const parts = [
    ...(failed > 0 ? [`${failed} of ${checks} checks failed`] : []),
    ...(broken > 0 ? [`${broken} of ${reports.length} files could not be tested`] : []),
  ];
  const update = "if the server is right, change the expectations, or write new snapshots: fairlead test FILE --update";
  const next = failed > 0 ? update : reports.find(({ error }) => error?.next !== undefined)?.error?.next;
  throw new HostError("diverged", parts.join(", and "), next === undefined ? {} : { next });
}
