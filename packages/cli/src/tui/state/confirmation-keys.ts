/** The keys of a confirmation. Only a letter can allow a call. Enter and Escape mean no. */

import { type ConfirmationChoice, type ConfirmationView, choiceText } from "@fairlead/core/policy";
import { type Key, letterOf } from "../input/keys.ts";

/** A letter that answers a confirmation, and its label. */
interface AnswerKey {
  readonly letter: string;
  /** How long the answer lasts, and what it saves. */
  readonly words: string;
  /** The label for a narrow screen. */
  readonly short: string;
  /** The answer. `edit`: the user changes the arguments first. `because`: no, with a reason that the user types next. */
  readonly answer: ConfirmationChoice | "edit" | "because";
}

/** Returns the keys of a question, in the order in which they are shown. The key for "no" is always included. */
export function offeredKeys(view: ConfirmationView): readonly AnswerKey[] {
  const { who, kind, answers, canEdit = false } = view;
  const end = who === "client" ? "until it disconnects" : "conversation";
  const isResource = kind === "resource";
  const subject = kind === "skill" || kind === "host" ? kind : "tool";
  const choice = (letter: string, answer: ConfirmationChoice, short: string): readonly AnswerKey[] =>
    answers.includes(answer) ? [{ letter, words: choiceText(answer, view), short, answer }] : [];
  return [
    ...choice("y", "once", "once"),
    ...choice(isResource ? "s" : "t", "conversation", `${isResource ? "resources" : subject}, ${end}`),
    ...choice("s", "server", `server, ${end}`),
    ...choice("a", "always", `${subject}, saved`),
    ...(canEdit && who === "model" ? [edit] : []),
    kind === "host" ? { ...no, words: "no (also Esc)" } : no,
    // A reason is for the model or the client. The user's own request has no such reader.
    ...(who === "user" || kind === "host" ? [] : [because]),
  ];
}

const edit: AnswerKey = { letter: "e", words: "edit the arguments", short: "edit", answer: "edit" };
const no: AnswerKey = { letter: "n", words: "no (also Enter, Esc)", short: "no", answer: "no" };
const because: AnswerKey = { letter: "b", words: "no, because …", short: "no, because", answer: "because" };

/** Returns the answer that a key gives. Undefined if it gives none. */
export function confirmationAnswer(view: ConfirmationView, key: Key): AnswerKey["answer"] | undefined {
  // A server that wants a host has no call whose answer the user waits for: an Enter was not meant for it.
  if (key.name === "enter" && view.kind === "host") return undefined;
  if (key.name === "escape" || key.name === "enter") return "no";
  // Several letters at once match no key, because they are text for the prompt.
  const typed = letterOf(key);
  return offeredKeys(view).find(({ letter }) => letter === typed)?.answer;
}
