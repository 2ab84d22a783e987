/** A line that was entered, as the keys that say the same to a screen. Pure. */

import type { Key } from "../input/keys.ts";
import type { AppState } from "../state/app-state.ts";

const enter: Key = { name: "enter" };
const down: Key = { name: "down" };

/** Without a question it is what is sent. An answer is a letter, a number, or what is asked for; nothing at all is no. */
export function lineKeys({ questions, focus, dialog }: AppState, line: string): readonly Key[] {
  const [question] = questions;
  const words = line.trim();
  if (question === undefined || focus !== "dialog" || dialog === undefined) return [typed(line), enter];
  switch (dialog.kind) {
    case "read":
      return [words === "" ? enter : typed(words)].filter(({ text = "" }) => text.length <= 1);
    case "chosen": {
      const number = Number(words);
      const isPlace = Number.isInteger(number) && number > 0;
      return isPlace ? [...Array.from({ length: number }, () => down), enter] : words === "" ? [enter] : [];
    }
    case "typed":
      return words === "" ? [{ name: "escape" }] : [typed(words), enter];
    case "form":
      return formKeys(dialog.form.focus, dialog.form.entries, words);
  }
}

type Form = Extract<NonNullable<AppState["dialog"]>, { readonly kind: "form" }>["form"];

/** Field by field: a line fills one in and goes on; an empty one leaves it as it is. `-` declines, `.` cancels. */
function formKeys(focus: Form["focus"], entries: Form["entries"], words: string): readonly Key[] {
  if (words === ".") return [{ name: "escape" }];
  if (focus === "send") return words === "-" ? [down, enter] : [enter];
  if (focus === "decline") return words === "" ? [enter] : [];
  const entry = entries[focus];
  if (words === "" || entry === undefined) return [down];
  switch (entry.kind) {
    case "typed":
      return [{ name: "text", text: "u", ctrl: true }, typed(words), down];
    case "switched":
    case "chosen":
      return [typed(words), down];
    case "several":
      return [...words.split(",").flatMap((word): readonly Key[] => [typed(word.trim()), typed(" ")]), down];
  }
}

/** Not as a paste: nothing that is typed here is shortened. */
function typed(text: string): Key {
  return { name: "text", text };
}
