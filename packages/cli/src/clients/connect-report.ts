/** Formats the output of `connect` and `disconnect`: the change of each client's file, and its outcome. */

import { looksSecret, previewEntry } from "@fairlead/console/server/words/server-redaction";
import type { HostError } from "@fairlead/core/errors";
import { hidden } from "@fairlead/core/plain-text";
import { joinSafe, type SafeText, safe, toSafeJson, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { isObject } from "@fairlead/wire/json";
import { errorDocument, unlessEmpty } from "../output/output.ts";
import { type ClientName, clients, type ForeignEntry } from "./client.ts";
import type { MovePlan } from "./move-servers.ts";

/**
 * What was done with a client's file. `declined`: the user said no. `refused`: an error prevented the change. `revoked`:
 * Fairlead had written nothing there, and revoked the client's tokens.
 */
type ConnectAction = "written" | "unchanged" | "printed" | "declined" | "refused" | "restored" | "removed" | "revoked";

/** The rule that fits a client: the command that writes it, and its file and line if `connect` has written it. */
interface ClientRule {
  readonly command?: string;
  readonly written?: string;
}

/** What `connect` or `disconnect` did with one client. */
export interface ClientReport {
  readonly client: ClientName;
  readonly file: string;
  readonly action: ConnectAction;
  readonly entry?: ForeignEntry;
  readonly difference?: readonly string[];
  readonly move?: MovePlan;
  /** The rule for the client's calls, after `connect`. */
  readonly rule?: ClientRule;
  /** How many tokens of the client `disconnect` revoked. */
  readonly revokedTokens?: number;
  readonly warnings: readonly string[];
  readonly error?: HostError;
}

/** Returns the `--json` output for one client. Hides secrets, except in an entry that `--print` shows. */
export function clientDocument(report: ClientReport): object {
  const { client, file, action, entry, difference, move, rule, revokedTokens, warnings, error } = report;
  const { asks, shows } = clients[client];
  return {
    client,
    title: clients[client].title,
    file,
    action,
    entry: action === "printed" ? entry : entry && withoutSecrets(entry),
    difference,
    moved: move?.names,
    staying: move?.staying,
    confirmation: rule && { asks, shows, ...rule },
    revokedTokens,
    warnings: unlessEmpty(warnings),
    error: error && errorDocument(error),
  };
}

function withoutSecrets(entry: ForeignEntry): ForeignEntry {
  return Object.fromEntries(
    Object.entries(entry).map(([key, value]) => [
      key,
      isObject(value) ? withoutSecrets(value) : typeof value === "string" && looksSecret(key, value) ? hidden : value,
    ]),
  );
}

/** Returns the name of the client and its file, then the changed lines. */
export function differenceText({ client, file, difference = [], move }: ClientReport): SafeText {
  const lines = difference.map((line) => safe`  ${toVisibleLine(line)}`);
  return joinSafe([
    safe`${toSafeLine(clients[client].title)}: ${toSafeLine(file)}`,
    ...lines,
    ...(move === undefined ? [] : moveLines(move)),
  ]);
}

function moveLines({ destination, added, names, staying }: MovePlan): readonly SafeText[] {
  const existingNames = names.filter((name) => !added.some((server) => server.name === name));
  return [
    ...added.flatMap(({ name, conversion }) => [
      safe`  move ${toVisibleLine(name)} to ${toSafeLine(destination.file)}:`,
      ...toSafeJson(previewEntry(conversion.entry))
        .split("\n")
        .map((line) => safe`    ${toVisibleLine(line)}`),
    ]),
    ...existingNames.map(
      (name) => safe`  remove ${toVisibleLine(name)} from this file: the server is already in Fairlead's settings`,
    ),
    ...staying.map(({ name, reason }) => safe`  ${toVisibleLine(name)} stays: ${toVisibleLine(reason)}`),
  ];
}

/** Returns the lines that the user can copy into the client's file. */
export function printedEntry({ client, file }: ClientReport, text: string): SafeText {
  const title = safe`# ${toSafeLine(clients[client].title)}: ${toSafeLine(file)}`;
  return joinSafe([title, ...text.trimEnd().split("\n").map(toVisibleLine)]);
}

// Compares two texts line by line, with secrets hidden, for the output of `connect` and `disconnect`.

/** Number of unchanged lines that are shown before and after a change. */
const around = 2;
/** Maximum number of shown lines, and of characters in one line. */
const most = { lines: 80, columns: 400 };
/**
 * If the numbers of lines between the first and the last change, multiplied, exceed this number, the lines are not
 * compared.
 */
const comparable = 1_000_000;

interface Line {
  readonly sign: " " | "-" | "+";
  readonly text: string;
}

/** Returns the difference as lines that begin with a space, `-` or `+`. A line `…` stands for omitted lines. */
export function lineDifference(before: string, after: string): readonly string[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  const start = old.findIndex((line, at) => line !== now[at]);
  const same = start === -1 ? Math.min(old.length, now.length) : start;
  let tail = 0;
  while (tail < Math.min(old.length, now.length) - same && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const changed = compare(old.slice(same, old.length - tail), now.slice(same, now.length - tail));
  const lines: readonly Line[] = [
    ...old.slice(Math.max(same - around, 0), same).map(unchanged),
    ...folded(changed),
    ...old.slice(old.length - tail, old.length - tail + around).map(unchanged),
  ];
  const shown = narrowed(lines).map(({ sign, text }) => `${sign} ${clipped(hideSecrets(indented(text)))}`.trimEnd());
  if (shown.length <= most.lines) return shown;
  return [...shown.slice(0, most.lines), `… ${shown.length - most.lines} more lines`];
}

function linesOf(text: string): readonly string[] {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\n|\r/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function unchanged(text: string): Line {
  return { sign: " ", text };
}

/** Finds the longest common subsequence of lines. If the lists are too long, all lines count as changed. */
function compare(old: readonly string[], now: readonly string[]): readonly Line[] {
  const removed = old.map((text): Line => ({ sign: "-", text }));
  const added = now.map((text): Line => ({ sign: "+", text }));
  if (old.length * now.length > comparable) return [...removed, ...added];
  const width = now.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  const lengthAt = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1)
    for (let column = now.length - 1; column >= 0; column -= 1)
      lengths[row * width + column] =
        old[row] === now[column]
          ? lengthAt(row + 1, column + 1) + 1
          : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1));
  const lines: Line[] = [];
  let [row, column] = [0, 0];
  while (row < old.length || column < now.length) {
    const isSame = row < old.length && column < now.length && old[row] === now[column];
    if (isSame) lines.push(unchanged(old[row] ?? ""));
    else if (column >= now.length || (row < old.length && lengthAt(row + 1, column) >= lengthAt(row, column + 1)))
      lines.push(removed[row] ?? unchanged(""));
    else lines.push(added[column] ?? unchanged(""));
    const sign = lines.at(-1)?.sign;
    if (sign !== "+") row += 1;
    if (sign !== "-") column += 1;
  }
  return lines;
}

/** Leaves out unchanged lines that are far from a change. */
function folded(lines: readonly Line[]): readonly Line[] {
  const isNear = (at: number): boolean =>
    lines.slice(Math.max(at - around, 0), at + around + 1).some(({ sign }) => sign !== " ");
  return lines.flatMap((line, at) => (isNear(at) ? [line] : isNear(at - 1) ? [unchanged("…")] : []));
}

/** If the only change is in one long line, keeps only the changed part of that line. */
function narrowed(lines: readonly Line[]): readonly Line[] {
  const removed = lines.filter(({ sign }) => sign === "-");
  const added = lines.filter(({ sign }) => sign === "+");
  const [old, now] = [removed[0]?.text ?? "", added[0]?.text ?? ""];
  if (removed.length !== 1 || added.length !== 1 || Math.max(old.length, now.length) <= most.columns) return lines;
  let start = 0;
  while (start < old.length && old[start] === now[start]) start += 1;
  let tail = 0;
  while (tail < Math.min(old.length, now.length) - start && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const part = (text: string): string => {
    const [from, to] = [Math.max(start - 60, 0), text.length - Math.max(tail - 60, 0)];
    return `${from > 0 ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`;
  };
  return lines.map((line) => (line.sign === " " ? line : { ...line, text: part(line.text) }));
}

/** Replaces tabs by spaces, because a tab would be shown as a symbol. */
function indented(text: string): string {
  return text.replace(/^\t+/, (tabs) => "    ".repeat(tabs.length));
}

function clipped(text: string): string {
  return text.length <= most.columns ? text : `${text.slice(0, most.columns)}… (${text.length} characters)`;
}

/** Hides values that look like secrets, in lines of JSON and TOML. */
function hideSecrets(line: string): string {
  return line
    .replaceAll(
      /(["']?)([\w.-]+)\1(\s*[:=]\s*)"((?:[^"\\]|\\.)*)"/g,
      (all, quote: string, name: string, sign: string, value: string) =>
        looksSecret(name, value) ? `${quote}${name}${quote}${sign}"${hidden}"` : all,
    )
    .replaceAll(/"((?:[^"\\]|\\.)*)"/g, (all, value: string) => (looksSecret("", value) ? `"${hidden}"` : all));
}
