/**
 * Shows the progress of a call on stderr: on a terminal as one line that is redrawn, otherwise as one line for each
 * notification.
 */

import type { Progress } from "@fairlead/core/host";
import { type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { clip } from "@fairlead/wire/text";
import type { Io } from "../../shell/verb.ts";
import { width } from "../wrap.ts";

/** Shows the progress of one call. Call `clear` when the call has ended. */
export interface ProgressLine {
  readonly update: (progress: Progress) => void;
  /** Removes the progress line from the terminal. */
  readonly clear: () => void;
  /** Hides the progress line while `ask` asks the user a question on the terminal. */
  readonly hideDuring: <T>(ask: () => Promise<T>) => Promise<T>;
}

function askAtOnce<T>(ask: () => Promise<T>): Promise<T> {
  return ask();
}

interface Options {
  readonly quiet: boolean;
  /** Returns the current time, in milliseconds. */
  readonly now?: () => number;
}

/** The escape sequence that erases the terminal's current line. */
export const eraseLine = "\r\u001b[2K";

/** Creates the progress display of one call. With `quiet`, it shows nothing. */
export function createProgressLine(
  label: SafeText,
  { stderr, env }: Pick<Io, "stderr" | "env">,
  { quiet, now = () => performance.now() }: Options,
): ProgressLine {
  if (quiet) return { update() {}, clear() {}, hideDuring: askAtOnce };
  const start = now();
  // A dumb terminal (TERM=dumb) cannot redraw a line.
  if (stderr.isTTY === true && env["TERM"] !== "dumb") return createLiveLine(label, stderr, () => now() - start);
  return createLineLog(label, stderr, now);
}

const frame = 100;
/** Milliseconds after which the progress line appears, even if the server has reported no progress. */
const showAfter = 1000;

function createLiveLine(label: SafeText, stderr: Io["stderr"], elapsed: () => number): ProgressLine {
  let last: Progress | undefined;
  let isShown = false;
  let questions = 0;

  function draw(): void {
    const time = elapsed();
    if (questions > 0 || (last === undefined && time < showAfter)) return;
    isShown = true;
    stderr.write(`${eraseLine}${cut(liveWords(label, last, time), stderr.columns)}`);
  }

  const timer = setInterval(draw, frame);
  return {
    update(progress) {
      const isFirst = last === undefined;
      last = progress;
      // The first progress notification is drawn at once. The timer draws all later notifications.
      if (isFirst) draw();
    },
    clear() {
      clearInterval(timer);
      if (isShown) stderr.write(eraseLine);
    },
    async hideDuring(ask) {
      questions += 1;
      if (isShown) stderr.write(eraseLine);
      isShown = false;
      try {
        return await ask();
      } finally {
        questions -= 1;
      }
    },
  };
}

const spinner = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const barWidth = 20;

/** Returns the spinner's character at the time `now`. The character changes every `every` milliseconds. */
export function spinnerSign(now: number, every: number): SafeText {
  return toSafeLine(spinner[Math.floor(now / every) % spinner.length] ?? "");
}

function liveWords(label: SafeText, progress: Progress | undefined, milliseconds: number): SafeText {
  const seconds = safe`${Math.floor(milliseconds / 1000)} s`;
  const part = progress && fractionDone(progress);
  if (progress !== undefined && part !== undefined)
    return safe`${label} ${bar(part)} ${Math.floor(part * 100)}%${message(progress)}  ${seconds}`;
  const steps = progress === undefined ? safe`` : safe` ${stepWords(progress)}${message(progress)}`;
  return safe`${spinnerSign(milliseconds, frame)} ${label}${steps}  ${seconds}`;
}

function bar(part: number): SafeText {
  const full = Math.floor(part * barWidth);
  return toSafeLine(`${"█".repeat(full)}${"░".repeat(barWidth - full)}`);
}

/** Returns the completed fraction. Returns undefined if the server's numbers are invalid or have no total. */
export function fractionDone({ progress, total }: Pick<Progress, "progress" | "total">): number | undefined {
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

/** Number of progress lines that are printed without delay. After them, at most one line per second is printed. */
const freeLines = 100;

/** Creates a progress display that prints a new line for each change. */
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
    hideDuring: askAtOnce,
  };
}

/**
 * Cuts a line to the terminal's width, because a line that wraps cannot be redrawn. The width is 80 if it is unknown.
 */
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
