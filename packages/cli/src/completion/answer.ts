/** The completions for the cursor: whole words without quotes; the caller quotes them for the shell. */

import { type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { clip } from "@fairlead/wire/text";

export type CompletionAnswer =
  | { readonly kind: "words"; readonly candidates: readonly CompletionWord[] }
  /** The shell completes the path itself. `prefix`: the part of the word before the path. */
  | { readonly kind: "files" | "folders"; readonly prefix: string };

export interface CompletionWord {
  readonly value: SafeText;
  readonly about: SafeText;
  /** Whether the word continues, so that no space follows it. */
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

/** Drops empty, very long and invisible values: names come from settings and servers and are untrusted. */
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

/** Puts `--option=` before each value. */
export function withPrefix(prefix: string, answer: CompletionAnswer): CompletionAnswer {
  if (answer.kind !== "words") return { ...answer, prefix: `${prefix}${answer.prefix}` };
  return {
    kind: "words",
    candidates: answer.candidates.map((one) => ({ ...one, value: safe`${toSafeLine(prefix)}${one.value}` })),
  };
}

/** Drops values that begin with a dash: an untrusted name could be taken for an option such as `--yes`. */
export function withoutDashes(answer: CompletionAnswer): CompletionAnswer {
  if (answer.kind !== "words") return answer;
  return { kind: "words", candidates: answer.candidates.filter(({ value }) => !value.startsWith("-")) };
}
