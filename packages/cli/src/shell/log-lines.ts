/** Reads the lines of a log file, either once or continuously. */

import { type FileHandle, open, readFile, stat } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";
import { HostError } from "@fairlead/core/errors";
import { toSafeLine } from "@fairlead/core/text/safe-text";
import { errorMessage } from "@fairlead/wire/text";
import type { Command } from "commander";
import type { Context } from "./verb.ts";

/** Returns the lines of a file. Returns undefined if the file does not exist. */
export async function readLogLines(path: string): Promise<readonly string[] | undefined> {
  try {
    return (await readFile(path, "utf8")).split("\n").filter((line) => line !== "");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Milliseconds between two checks of the file. */
const interval = 250;

/**
 * Yields all lines of the file, then new lines as they are written. Waits until the file exists. Ends only when
 * `signal` aborts: it then throws an `AbortError`.
 */
export async function* followLog(path: string, signal: AbortSignal): AsyncGenerator<string> {
  for (;;) {
    const file = await open(path).catch(unlessAbsent);
    if (file) {
      try {
        yield* linesOf(file, path, signal);
      } finally {
        await file.close();
      }
    } else await sleep(interval, undefined, { signal });
  }
}

/** Yields the lines of `file` until the log is rotated: `path` is then the path of a new file. */
async function* linesOf(file: FileHandle, path: string, signal: AbortSignal): AsyncGenerator<string> {
  const { ino } = await file.stat();
  const decoder = new StringDecoder("utf8");
  let rest = "";
  for (;;) {
    // This check comes before the read, so that no line written just before a rotation is lost.
    const isReplaced = (await stat(path).catch(unlessAbsent))?.ino !== ino;
    for await (const chunk of chunksOf(file)) {
      const lines = (rest + decoder.write(chunk)).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
    if (isReplaced) return;
    await sleep(interval, undefined, { signal });
  }
}

async function* chunksOf(file: FileHandle): AsyncGenerator<Buffer> {
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(65_536));
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

function unlessAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

// Filters log lines by `--since` and `--grep`. Pure functions.

/** Whether to show a log line. */
type LogFilter = (line: string) => boolean;

/** The options `--since` and `--grep` as the user typed them. */
interface FilterOptions {
  readonly since?: string;
  readonly grep?: string;
}

/**
 * Creates the filter. `now`: milliseconds since 1970.
 * @throws HostError `usage` for an invalid time or regular expression
 */
export function createLogFilter({ since, grep }: FilterOptions, now: number): LogFilter {
  const from = since === undefined ? undefined : new Date(toMoment(since, now)).toISOString();
  const pattern = grep === undefined ? undefined : toPattern(grep);
  // Each line begins with an ISO 8601 time in UTC, so comparing lines as text compares their times.
  return (line) => (from === undefined || line >= from) && (pattern === undefined || pattern.test(line));
}

const units: ReadonlyMap<string, number> = new Map([
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);

/**
 * Returns a time in milliseconds since 1970. `word` is a duration before `now` (`10m`), or an ISO 8601 date or time. A
 * time without a time zone is local time.
 *
 * @throws HostError `usage`
 */
export function toMoment(word: string, now: number, { isUtc = false }: { readonly isUtc?: boolean } = {}): number {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)\s*([smhd])$/.exec(word) ?? [];
  const moment =
    amount === undefined ? Date.parse(withTime(word, isUtc)) : now - Number(amount) * (units.get(unit) ?? 0);
  if (Number.isNaN(moment) || Math.abs(moment) > 8.64e15)
    throw new HostError("usage", `--since "${word}" is not a time or a duration`, {
      next: "--since 10m, --since 2h, --since 2026-01-31 or --since 2026-01-31T08:30",
    });
  return moment;
}

/** Adds `T00:00` to a date without a time. Otherwise JavaScript would read the date as UTC instead of local time. */
function withTime(word: string, isUtc: boolean): string {
  const [, date, time] = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?))?$/.exec(word) ?? [];
  return date === undefined ? word : `${date}T${time ?? "00:00"}${isUtc ? "Z" : ""}`;
}

/** Compiles the pattern. It is case-sensitive only if it has capital letters. */
function toPattern(text: string): RegExp {
  try {
    return new RegExp(text, text === text.toLowerCase() ? "iu" : "u");
  } catch (error) {
    const reason = errorMessage(error);
    throw new HostError("usage", `--grep: ${reason}`, { next: "escape special characters with a backslash: \\." });
  }
}

interface LogOptions extends FilterOptions {
  readonly follow?: boolean;
  readonly path?: boolean;
}

/** Adds the options of a command that shows a log. */
export function defineLogOptions(command: Command, grep: string): void {
  command
    .option("-f, --follow", "keep printing new lines until Ctrl-C")
    .option("--since <when>", "only newer entries: 10m, 2h or 3d ago, or a time like 2026-01-31T08:30")
    .option("--grep <pattern>", grep)
    .option("--path", "print only the path of the log file");
}

/** Reads these options. @throws HostError `usage` */
export function readLogOptions({ command, globals }: Context): LogView {
  const { follow = false, path: onlyPath = false, ...options } = command.opts<LogOptions>();
  if (follow && globals.json)
    throw new HostError("usage", "--json and -f cannot be combined: --json prints one document, and -f never ends");
  return { follow, onlyPath, isWanted: createLogFilter(options, Date.now()) };
}

interface LogView {
  readonly follow: boolean;
  readonly onlyPath: boolean;
  readonly isWanted: LogFilter;
}

/** Prints lines. With `--follow`, then prints new lines of the file until Ctrl-C. */
export async function printLog(
  lines: readonly string[],
  path: string,
  { follow, isWanted }: LogView,
  { io, out }: Context,
): Promise<void> {
  for (const line of lines) out.print(toSafeLine(line));
  if (follow) for await (const line of followLog(path, io.signal)) if (isWanted(line)) out.print(toSafeLine(line));
}
