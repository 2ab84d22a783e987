/** Formats findings: one line for all that is ok in a group, then each other finding with its next step. */

import {
  joinSafe,
  padSafe,
  repeatSafe,
  type SafeText,
  safe,
  toSafeLine,
  toVisibleLine,
} from "@fairlead/core/text/safe-text";
import { count, type Output, type Style } from "../output/output.ts";
import { fill, words } from "../output/wrap.ts";
import { type DoctorFinding, type FindingGroup, findingGroups, type Severity } from "./finding.ts";

interface Look extends Pick<Output, "style" | "typed"> {
  readonly columns: number;
}

const groupWidth = Math.max(...findingGroups.map((group) => group.length));
const severityWidth = "problem".length;
const worstFirst: readonly Severity[] = ["problem", "warning", "note"];

/** Undefined for a group without findings. */
export function groupText(group: FindingGroup, findings: readonly DoctorFinding[], look: Look): SafeText | undefined {
  const own = findings.filter((finding) => finding.group === group);
  const fine = own.filter(({ severity }) => severity === "ok").map(({ message }) => toVisibleLine(message));
  const rows: Row[] = [
    ...(fine.length === 0 ? [] : [{ severity: "ok" as const, message: joinSafe(fine, safe`; `) }]),
    ...worstFirst.flatMap((severity) => own.filter((finding) => finding.severity === severity).map(toRow)),
  ];
  if (rows.length === 0) return undefined;
  return joinSafe(rows.flatMap((row, at) => rowLines(row, at === 0 ? group : "", look)));
}

interface Row {
  readonly severity: Severity;
  readonly message: SafeText;
  readonly next?: SafeText;
}

function toRow({ severity, message, next }: DoctorFinding): Row {
  return { severity, message: toVisibleLine(message), ...(next !== undefined && { next: toSafeLine(next) }) };
}

function rowLines(
  { severity, message, next }: Row,
  group: FindingGroup | "",
  { style, typed, columns }: Look,
): SafeText[] {
  const label = style.bold(padSafe(toSafeLine(group), groupWidth));
  const word = coloured(severity, padSafe(toSafeLine(severity), severityWidth), style);
  const hanging = repeatSafe(safe` `, groupWidth + severityWidth + 4);
  return [
    ...fill(words(message), { columns, indent: safe`${label}  ${word}  `, hanging }),
    // Not wrapped, so that it can be copied.
    ...(next === undefined ? [] : [safe`${hanging}next: ${typed(next)}`]),
  ];
}

function coloured(severity: Severity, text: SafeText, style: Style): SafeText {
  switch (severity) {
    case "ok":
      return style.green(text);
    case "note":
      return style.cyan(text);
    case "warning":
      return style.yellow(text);
    case "problem":
      return style.red(text);
  }
}

/** `2 problems, 1 warning`. */
export function summary(findings: readonly DoctorFinding[]): SafeText {
  const number = (wanted: Severity): number => findings.filter(({ severity }) => severity === wanted).length;
  return safe`${count(number("problem"), "problem")}, ${count(number("warning"), "warning")}`;
}
