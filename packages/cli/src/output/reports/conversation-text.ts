/** Formats the list of recorded conversations as a table. */

import type { ConversationInfo } from "@fairlead/core/conversations";
import { type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { clip } from "@fairlead/wire/text";
import { count, table } from "../output.ts";
import { ageWords, shortPath } from "../time-text.ts";

const longestWords = 50;

/** What the texts need besides the conversation. `home` is the home folder, shown as `~`. */
export interface ConversationTextOptions {
  readonly home: string;
  /** The current time, in milliseconds since 1970. */
  readonly now: number;
}

/** Returns the table with a header and one row for each conversation. */
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
    shortPath(info.workspace, home),
    nameOf(info),
  ];
}

/** Returns the conversation's title. If it has none, returns the beginning of the first message. */
function nameOf({ title, firstWords }: Pick<ConversationInfo, "title" | "firstWords">): SafeText {
  return toSafeLine(clip((title ?? firstWords).replaceAll(/\s+/g, " ").trim(), longestWords));
}

/** Returns the conversation as one line of the list from which the user chooses. */
export function conversationLine(info: ConversationInfo, { home, now }: ConversationTextOptions): SafeText {
  const where = shortPath(info.workspace, home);
  return safe`${nameOf(info)} (${ageOf(info.updatedAt, now)}, ${where}, ${count(info.calls, "call")})`;
}

function ageOf(time: string, now: number): SafeText {
  return safe`${ageWords(now - Date.parse(time))} ago`;
}
