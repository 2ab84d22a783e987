/** The folder of Fairlead's own state: whether it can be written, who can read it, and what had to be put aside. Pure. */

import { toShellWord } from "@fairlead/core/text/shell-word";
import { sizeWords } from "@fairlead/core/text/size-words";
import type { Observation } from "./finding.ts";

export interface StateFacts {
  readonly folder: string;
  /** Whether others than its owner may look into it; `shut out`: they could, until now. */
  readonly others: "kept out" | "shut out" | "let in";
  /** Why nothing can be written there. */
  readonly failure?: string;
  /** Damaged files that were put aside, in a folder or below it. */
  readonly aside: readonly string[];
  /** Bytes that are left on its disk, where that is known. */
  readonly free?: number;
}

/** Less than this is soon gone: catalogs, logs and results are written all the time. */
const scarce = 50 * 1024 * 1024;

export function checkState({ folder, others, failure, aside, free }: StateFacts): readonly Observation[] {
  const findings: Observation[] = [];
  if (failure !== undefined)
    findings.push({
      severity: "problem",
      code: "internal",
      message: `${folder} cannot be written (${failure}): approvals, secrets, logs and what is known of servers are not kept`,
      next: `Make sure that ${folder} can be written; or set FAIRLEAD_HOME to a folder that can.`,
    });
  else findings.push({ severity: "ok", message: `${folder} can be written` });
  if (others === "shut out")
    findings.push({
      severity: "note",
      message: `others than you could look into ${folder} until now; it is closed to them`,
    });
  if (others === "let in")
    findings.push({
      severity: "warning",
      message: `others than you may look into ${folder}`,
      next: `chmod 700 ${toShellWord(folder)}`,
    });
  if (free !== undefined && free < scarce && failure === undefined)
    findings.push({
      severity: "warning",
      message: `the disk of ${folder} is nearly full: ${sizeWords(free)} left`,
      next: "Make room on that disk.",
    });
  if (aside.length > 0)
    findings.push({
      severity: "warning",
      message: `damaged, and put aside: ${aside.join(", ")}; what was in it has to be given again`,
      next: `rm ${aside.map(toShellWord).join(" ")}`,
    });
  return findings;
}
