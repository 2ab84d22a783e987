/** How far a call is, on stderr: one line that is written over on a terminal, a line each time elsewhere. */

import type { Progress } from "@fairlead/core/host";
import { type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { Io } from "../io.ts";

export interface ProgressLine {
  readonly update: (progress: Progress) => void;
  /** Leaves a terminal as it was. */
  readonly clear: () => void;
}

export const eraseLine = "\r\u001b[2K";

export function createProgressLine(label: SafeText, { stderr }: Pick<Io, "stderr">, quiet: boolean): ProgressLine {
  const isTerminal = stderr.isTTY === true;
  let shown: SafeText | undefined;
  return {
    update(progress) {
      const line = progressWords(label, progress);
      if (quiet || line === shown) return;
      shown = line;
      stderr.write(isTerminal ? `${eraseLine}${cut(line, stderr.columns)}` : `${line}\n`);
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

/** A longer line would wrap, and only its last row could be written over. A terminal may not know its width, or say 0. */
export function cut(line: SafeText, columns = 0): string {
  const room = (columns > 0 ? columns : 80) - 1;
  const characters = Array.from(line);
  return characters.length <= room ? line : `${characters.slice(0, room - 1).join("")}…`;
}
