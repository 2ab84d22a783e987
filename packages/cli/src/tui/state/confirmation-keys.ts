/** The keys of a confirmation. Only a letter can allow a call. Enter and Escape mean no. */

import { ToolConfirmationOutcome } from "@fairlead/core/registry/confirmation";
import type { Key } from "../input/keys.ts";
import type { QuestionOf } from "./questions.ts";

/** A letter that answers a confirmation, and its label. */
export interface AnswerKey {
  readonly letter: string;
  /** How long the answer lasts, and what it saves. */
  readonly words: string;
  /** The label for a narrow screen. */
  readonly short: string;
  /** The answer. `edit`: the user changes the arguments first. `because`: no, with a reason that the user types next. */
  readonly answer: ToolConfirmationOutcome | "edit" | "because";
}

const { ProceedOnce, ProceedAlwaysTool, ProceedAlwaysServer, ProceedAlwaysAndSave, Cancel } = ToolConfirmationOutcome;

/** The keys in the order in which they are shown. A client's request lasts until the client's connection ends. */
function answerKeys(asker: QuestionOf<"confirmation">["asker"]): readonly AnswerKey[] {
  const [end, shortEnd] =
    asker === "client"
      ? ["the program disconnects", "until it disconnects"]
      : ["the conversation ends", "conversation"];
  const effect = asker === "client" ? "for this program (saves an approval)" : "(saves an approval)";
  return [
    { letter: "y", words: "yes, once", short: "once", answer: ProceedOnce },
    { letter: "t", words: `this tool, until ${end}`, short: `tool, ${shortEnd}`, answer: ProceedAlwaysTool },
    {
      letter: "s",
      words: `all tools of the server, until ${end}`,
      short: `server, ${shortEnd}`,
      answer: ProceedAlwaysServer,
    },
    { letter: "a", words: `this tool, always ${effect}`, short: "tool, saved", answer: ProceedAlwaysAndSave },
    { letter: "e", words: "edit the arguments", short: "edit", answer: "edit" },
    { letter: "n", words: "no (also Enter, Esc)", short: "no", answer: Cancel },
    { letter: "b", words: "no, because …", short: "no, because", answer: "because" },
  ];
}

/** Returns the keys of a question. The key for "no" is always included. */
export function offeredKeys({
  details: { outcomes, canEdit = false },
  asker,
}: Pick<QuestionOf<"confirmation">, "details" | "asker">): readonly AnswerKey[] {
  return answerKeys(asker).filter(({ answer }) => {
    if (answer === Cancel) return true;
    // Nobody reads a reason that answers the user's own request.
    if (answer === "because") return asker !== "user";
    return answer === "edit" ? canEdit && asker === "model" : outcomes.includes(answer);
  });
}

/** Returns the answer that a key gives. Undefined if it gives none. */
export function confirmationAnswer(
  question: Pick<QuestionOf<"confirmation">, "details" | "asker">,
  key: Key,
): AnswerKey["answer"] | undefined {
  if (key.name === "escape" || key.name === "enter") return Cancel;
  // Several letters at once match no key, because they are text for the prompt.
  const letter = key.name === "text" && key.ctrl !== true && key.meta !== true ? key.text?.toLowerCase() : undefined;
  return offeredKeys(question).find((each) => each.letter === letter)?.answer;
}
