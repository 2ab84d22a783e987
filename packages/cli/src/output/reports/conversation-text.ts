/** The list of recorded conversations as a table. */

import type { ConversationInfo } from "@fairlead/core/conversations/list-conversations";
import { type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { clip } from "@fairlead/wire/text";
import { count, table } from "../output.ts";

const longestWords = 50;

export interface ConversationTextOptions {
  readonly home: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export function conversationsText(
  conversations: readonly ConversationInfo[],
  options: ConversationTextOptions,
): SafeText {
  const head = [safe`id`, safe`when`, safe`calls`, safe`where`, safe`what`];
  return table([head, ...conversations.map((each) => row(each, options))]);
}

function row(info: ConversationInfo, { home, now }: ConversationTextOptions): readonly SafeText[] {
  return [
    toSafeLine(info.id),
    ageOf(info.updatedAt, now),
    safe`${info.calls}`,
    toSafeLine(shortPath(info.workspace, home)),
    nameOf(info),
  ];
}

/** The name that the user gave, or the first words. */
function nameOf({ title, firstWords }: Pick<ConversationInfo, "title" | "firstWords">): SafeText {
  return toSafeLine(clip((title ?? firstWords).replaceAll(/\s+/g, " ").trim(), longestWords));
}

/** One line for a list to choose from. */
export function conversationLine(info: ConversationInfo, { home, now }: ConversationTextOptions): SafeText {
  const where = toSafeLine(shortPath(info.workspace, home));
  return safe`${nameOf(info)} (${ageOf(info.updatedAt, now)}, ${where}, ${count(info.calls, "call")})`;
}

const units: readonly (readonly [word: string, milliseconds: number])[] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

function ageOf(time: string, now: number): SafeText {
  const age = now - Date.parse(time);
  const [word, length] = units.find(([, milliseconds]) => age >= milliseconds) ?? [];
  return word === undefined || length === undefined
    ? safe`just now`
    : safe`${count(Math.floor(age / length), word)} ago`;
}

function shortPath(path: string, home: string): string {
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
