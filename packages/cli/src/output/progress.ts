/** How far a call is, on stderr: one line that is written over on a terminal, a line each time elsewhere. */

import type { Progress } from "@fairlead/core/host";
import { type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { Io } from "../io.ts";

export interface ProgressLine {
  readonly update: (progress: Progress) => void;
  /** Leaves a terminal as it was. */
  readonly clear: () => void;
}

const eraseLine = "\r\u001b[2K";

export function createProgressLine(label: SafeText, { stderr }: Pick<Io, "stderr">, quiet: boolean): ProgressLine {
  const isTerminal = stderr.isTTY === true;
  let shown: SafeText | undefined;
  return {
    update(progress) {
      const line = progressWords(label, progress);
      if (quiet || line === shown) return;
      shown = line;
      stderr.write(isTerminal ? `${eraseLine}${cut(line, (stderr.columns ?? 80) - 1)}` : `${line}\n`);
    },
    clear() {
      if (isTerminal && shown !== undefined) stderr.write(eraseLine);
    },
  };
}

function progressWords(label: SafeText, { progress, total, message }: Progress): SafeText {
  const steps = total === undefined ? safe`${progress}` : safe`${progress}/${total}`;
  return message === undefined ? safe`${label} ${steps}` : safe`${label} ${steps} ${toSafeLine(message)}`;
}

/** A longer line would wrap, and only its last row could be written over. */
function cut(line: SafeText, columns: number): string {
  const characters = Array.from(line);
  return characters.length <= columns ? line : `${characters.slice(0, columns - 1).join("")}…`;
}
