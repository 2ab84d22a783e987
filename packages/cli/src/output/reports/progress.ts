/** How far a call is, on stderr: on a terminal one line that is written over, with a bar; elsewhere a line each time. */

import type { Progress } from "@fairlead/core/host";
import { type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { clip } from "@fairlead/wire/text";
import type { Io } from "../../shell/io.ts";
import { width } from "../output.ts";

export interface ProgressLine {
  readonly update: (progress: Progress) => void;
  /** Leaves a terminal as it was. */
  readonly clear: () => void;
}

interface Options {
  readonly quiet: boolean;
  /** In milliseconds; tests have their own. */
  readonly now?: () => number;
}

export const eraseLine = "\r\u001b[2K";

export function createProgressLine(
  label: SafeText,
  { stderr, env }: Pick<Io, "stderr" | "env">,
  { quiet, now = () => performance.now() }: Options,
): ProgressLine {
  if (quiet) return { update() {}, clear() {} };
  const start = now();
  // A dumb terminal cannot write over a line.
  if (stderr.isTTY === true && env["TERM"] !== "dumb") return createLiveLine(label, stderr, () => now() - start);
  return createLineLog(label, stderr, now);
}

const frame = 100;
/** A call that is over sooner needs no line. */
const showAfter = 1000;

function createLiveLine(label: SafeText, stderr: Io["stderr"], elapsed: () => number): ProgressLine {
  let last: Progress | undefined;
  let isShown = false;

  function draw(): void {
    const time = elapsed();
    if (last === undefined && time < showAfter) return;
    isShown = true;
    stderr.write(`${eraseLine}${cut(liveWords(label, last, time), stderr.columns)}`);
  }

  const timer = setInterval(draw, frame);
  return {
    update(progress) {
      const isFirst = last === undefined;
      last = progress;
      // However many come, they are drawn as often as a person can see.
      if (isFirst) draw();
    },
    clear() {
      clearInterval(timer);
      if (isShown) stderr.write(eraseLine);
    },
  };
}

const spinner = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const barWidth = 20;

function liveWords(label: SafeText, progress: Progress | undefined, milliseconds: number): SafeText {
  const seconds = safe`${Math.floor(milliseconds / 1000)} s`;
  const part = progress && partOf(progress);
  if (progress !== undefined && part !== undefined)
    return safe`${label} ${bar(part)} ${Math.floor(part * 100)}%${message(progress)}  ${seconds}`;
  const turn = toSafeLine(spinner[Math.floor(milliseconds / frame) % spinner.length] ?? "");
  const steps = progress === undefined ? safe`` : safe` ${stepWords(progress)}${message(progress)}`;
  return safe`${turn} ${label}${steps}  ${seconds}`;
}

function bar(part: number): SafeText {
  const full = Math.floor(part * barWidth);
  return toSafeLine(`${"█".repeat(full)}${"░".repeat(barWidth - full)}`);
}

/** Of a whole that makes sense; servers send what they like. */
function partOf({ progress, total }: Progress): number | undefined {
  if (total === undefined || !(total > 0) || !(progress >= 0)) return undefined;
  return Math.min(progress / total, 1);
}

const longestMessage = 500;

function message({ message: words }: Progress): SafeText {
  return words === undefined ? safe`` : safe` ${toSafeLine(clip(words, longestMessage))}`;
}

function stepWords({ progress, total }: Progress): SafeText {
  return total === undefined ? rounded(progress) : safe`${rounded(progress)}/${rounded(total)}`;
}

function rounded(number: number): SafeText {
  return safe`${Number(number.toFixed(2))}`;
}

/** So many lines are written as they come, later ones only every second: a server may report without end. */
const freeLines = 100;

export function createLineLog(
  label: SafeText,
  stderr: Io["stderr"],
  now: () => number = () => performance.now(),
): ProgressLine {
  let shown: SafeText | undefined;
  let count = 0;
  let since = 0;
  return {
    update(progress) {
      const line = safe`${label} ${stepWords(progress)}${message(progress)}`;
      if (line === shown || (count >= freeLines && now() - since < showAfter)) return;
      [shown, count, since] = [line, count + 1, now()];
      stderr.write(`${line}\n`);
    },
    clear() {},
  };
}

/** A longer line would wrap, and only its last row could be written over. A terminal may not know its width, or say 0. */
export function cut(line: SafeText, columns = 0): string {
  const room = (columns > 0 ? columns : 80) - 1;
  if (width(line) <= room) return line;
  let used = 1;
  const kept: string[] = [];
  for (const character of line) {
    used += width(toSafeLine(character));
    if (used > room) break;
    kept.push(character);
  }
  return `${kept.join("")}…`;
}
