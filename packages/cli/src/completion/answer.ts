/** What may stand at the cursor. Values are whole words without any quotes; how a shell writes them is another matter. */

import { type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { clip } from "@fairlead/wire/text";

export type CompletionAnswer =
  | { readonly kind: "words"; readonly candidates: readonly CompletionWord[] }
  /** The shell knows its files best. `prefix`: the part of the word before the path. */
  | { readonly kind: "files" | "folders"; readonly prefix: string };

export interface CompletionWord {
  readonly value: SafeText;
  readonly about: SafeText;
  /** The word goes on: no space follows. */
  readonly isOpen: boolean;
}

export const nothing: CompletionAnswer = { kind: "words", candidates: [] };

export interface Suggestion {
  readonly value: string;
  readonly about?: string | undefined;
  readonly isOpen?: boolean;
}

const longestAbout = 100;
const longestValue = 1000;

/** Names come from settings and servers: one that cannot be seen as it is, is not offered; nor is one that nobody would want to see. */
export function toWords(offered: readonly Suggestion[]): CompletionAnswer {
  return {
    kind: "words",
    candidates: offered.flatMap(({ value, about = "", isOpen = false }) => {
      const visible = toVisibleLine(value);
      if (value === "" || value.length > longestValue || visible !== value) return [];
      return { value: visible, about: toAbout(about), isOpen };
    }),
  };
}

function toAbout(text: string): SafeText {
  const [line = ""] = text.trim().split(/\r?\n/, 1);
  return line === "" ? safe`` : toSafeLine(clip(line, longestAbout));
}

/** The value of `--option=…`, with the option in front. */
export function withPrefix(prefix: string, answer: CompletionAnswer): CompletionAnswer {
  if (answer.kind !== "words") return { ...answer, prefix: `${prefix}${answer.prefix}` };
  return {
    kind: "words",
    candidates: answer.candidates.map((one) => ({ ...one, value: safe`${toSafeLine(prefix)}${one.value}` })),
  };
}

/** A foreign name that begins with a dash would be taken for an option, perhaps for one that says yes to something. */
export function withoutDashes(answer: CompletionAnswer): CompletionAnswer {
  if (answer.kind !== "words") return answer;
  return { kind: "words", candidates: answer.candidates.filter(({ value }) => !value.startsWith("-")) };
}
