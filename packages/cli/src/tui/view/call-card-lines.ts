/** Formats a tool call as lines: a headline, then progress, error and result. */

import { mediaText } from "@fairlead/core/normalise";
import { type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { CallStatus } from "@fairlead/core/turn";
import { clip } from "@fairlead/wire/text";
import { fractionDone, spinnerSign } from "../../output/reports/progress.ts";
import { typedHere } from "../slash/typed-here.ts";
import { type CallCard, isOver } from "../state/transcript.ts";
import { breakLine, type Colour, clipLine, type Line, lineColumns, span } from "./line.ts";
import { jsonLines, outputLines, readingLines } from "./text-lines.ts";

interface Sign {
  readonly sign: SafeText;
  readonly words: SafeText;
  readonly colour?: Colour;
}

const signs: Readonly<Record<CallStatus, Sign>> = {
  requested: { sign: safe`○`, words: safe`requested` },
  asking: { sign: safe`?`, words: safe`needs confirmation`, colour: "yellow" },
  queued: { sign: safe`○`, words: safe`queued` },
  running: { sign: safe`●`, words: safe`running`, colour: "cyan" },
  ok: { sign: safe`✓`, words: safe`done`, colour: "green" },
  error: { sign: safe`✗`, words: safe`failed`, colour: "red" },
  denied: { sign: safe`✗`, words: safe`denied`, colour: "yellow" },
  cancelled: { sign: safe`-`, words: safe`cancelled`, colour: "yellow" },
};

/** Returns the lines of a call. `now`: milliseconds on the session's clock, for the running time. */
export function callCardLines(card: CallCard, now: number, width: number): readonly Line[] {
  const { args, isOpen } = card;
  const inner = width - 2;
  const below = [
    ...(isOpen && Object.keys(args).length > 0 ? jsonLines(args, inner) : []),
    ...progressLines(card, inner),
    ...errorLines(card, inner),
    ...resultLines(card, inner),
    ...mediaLines(card, inner),
    ...(isEmpty(card) ? [[span(safe`empty result`, { isDim: true })]] : []),
    // Users copy paths, so a path is not wrapped at spaces.
    ...card.files.flatMap((file) => breakLine([span(safe`saved in ${toVisibleLine(file)}`, { isDim: true })], inner)),
  ];
  return [headLine(card, now, width), ...below.map((line) => [span(safe`  `), ...line])];
}

function isEmpty({ status, display, media, files }: CallCard): boolean {
  return status === "ok" && display === "" && media.length === 0 && files.length === 0;
}

/** Describes images and audio if the result has no text. */
function mediaLines({ media, display = "" }: CallCard, width: number): readonly Line[] {
  if (display !== "") return [];
  return media.flatMap(({ mimeType, data }) => readingLines(mediaText(mimeType, data), width));
}

function headLine(card: CallCard, now: number, width: number): Line {
  const { status, server, tool, isOpen } = card;
  const { sign, words, colour } = signs[status];
  const moving = status === "running" ? spinnerSign(now, 120) : undefined;
  const name = server === undefined ? toVisibleLine(tool) : safe`${toVisibleLine(server)}.${toVisibleLine(tool)}`;
  const time = elapsedWords(card, now);
  const end = [span(time === undefined ? safe` ${words}` : safe` ${words}, ${time}`, { isDim: true })];
  const start = [span(safe`${moving ?? sign} `, { colour }), span(name, { isBold: true })];
  const room = width - lineColumns(end);
  // Cuts the name and the arguments, so that the status fits.
  const begun = clipLine(start, Math.max(8, room));
  const left = room - lineColumns(begun) - 1;
  const hasArguments = Object.keys(card.args).length > 0;
  const said =
    isOpen || left < 8 || !hasArguments ? [] : clipLine([span(safe` ${argumentWords(card)}`, { isDim: true })], left);
  return clipLine([...begun, ...said, ...end], width);
}

/** Longer names and values of arguments are cut before they are formatted, because the line has no room for them. */
const longestValue = 300;

function argumentWords({ args }: CallCard): SafeText {
  const words = Object.entries(args)
    .slice(0, 20)
    .map(([name, value]) => `${clip(name, longestValue)}=${clip(valueWords(value), longestValue)}`);
  return toVisibleLine(words.join(" "));
}

function valueWords(value: unknown): string {
  if (typeof value === "string")
    return /^[\p{L}\p{M}\p{N}_./:@-]+$/u.test(value) ? value : JSON.stringify(clip(value, longestValue));
  return typeof value === "object" && value !== null ? (Array.isArray(value) ? "[…]" : "{…}") : String(value);
}

/** Durations shorter than this many milliseconds are not shown. */
const shortest = 1000;

function elapsedWords({ status, startedAt, durationMs }: CallCard, now: number): SafeText | undefined {
  const milliseconds = isOver(status) ? durationMs : startedAt === undefined ? undefined : now - startedAt;
  if (milliseconds === undefined || milliseconds < shortest) return undefined;
  const seconds = Math.floor(milliseconds / 1000);
  return seconds < 60 ? safe`${seconds} s` : safe`${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

const barColumns = 20;

function progressLines({ progress, status }: CallCard, width: number): readonly Line[] {
  if (progress === undefined || isOver(status)) return [];
  const part = fractionDone(progress);
  const full = Math.floor((part ?? 0) * Math.min(barColumns, width));
  const rest = Math.min(barColumns, width) - full;
  const bar = toSafeLine(`${"█".repeat(full)}${"░".repeat(rest)}`);
  const told =
    part === undefined ? safe`step ${Number(progress.progress.toFixed(2))}` : safe`${bar} ${Math.floor(part * 100)}%`;
  const message = progress.message === undefined ? safe`` : safe` ${toSafeLine(clip(progress.message, longestValue))}`;
  return [clipLine([span(told), span(message, { isDim: true })], width)];
}

function errorLines({ error }: CallCard, width: number): readonly Line[] {
  if (error === undefined) return [];
  return [
    ...readingLines(error.message, width, { colour: "red" }),
    ...(error.next === undefined ? [] : readingLines(typedHere(error.next), width, { isDim: true })),
  ];
}

const foldedRows = 3;
const mostRows = 2000;
const mostCharacters = 400_000;

function resultLines({ display = "", error, isOpen, files }: CallCard, width: number): readonly Line[] {
  const text = error !== undefined && display === error.message ? "" : display.trimEnd();
  if (text === "") return [];
  if (isOpen) {
    const lines = outputLines(clip(text, mostCharacters), width);
    const rest = lines.length > mostRows || text.length > mostCharacters;
    const where = files.length > 0 ? safe`… the rest does not fit here` : safe`… and more`;
    return [...lines.slice(0, mostRows), ...(rest ? [[span(where)]] : [])];
  }
  const rows = text.split("\n");
  const shown = rows.slice(0, foldedRows).map((row) => oneRow(row, width));
  const isCut = rows.length > foldedRows || shown.some(({ isWhole }) => !isWhole);
  const rest = rows.length - foldedRows;
  const words = rest > 0 ? safe`… ${rest} more ${rest === 1 ? safe`line` : safe`lines`}` : safe`…`;
  return [
    ...shown.map(({ line }) => line),
    ...(isCut ? [clipLine([span(safe`${words} (Ctrl-O)`, { isDim: true })], width)] : []),
  ];
}

function oneRow(row: string, width: number): { readonly line: Line; readonly isWhole: boolean } {
  const line = [span(toSafeLine(clip(row, width * 4).replaceAll("\t", "    ")))];
  const clipped = clipLine(line, width);
  return { line: clipped, isWhole: clipped === line };
}
