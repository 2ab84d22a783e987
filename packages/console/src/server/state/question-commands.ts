/** Answers questions, those of this process and those of the inbox. */

import type { QuestionCommands } from "../../protocol/questions.ts";
import type { Answer } from "../../protocol/rows.ts";
import type { InboxQuestions } from "./inbox-questions.ts";
import { anObject, anyText, aText, type Handlers, oneOf, optional } from "./parameters.ts";
import type { Questions } from "./questions.ts";

/** @param onApproval Called after an answer that counts for later requests too. */
export function questionCommands(
  questions: Questions,
  inbox: InboxQuestions,
  onApproval: () => void,
): Handlers<QuestionCommands> {
  return {
    "questions/answer": {
      takes: { id: aText, answer: anAnswer },
      async run({ id, answer }) {
        const outcome = await (questions.has(id) ? questions.answer(id, answer) : inbox.answer(id, answer));
        if (answer.kind === "request" && answer.choice !== "no" && answer.choice !== "once") onApproval();
        return outcome;
      },
    },
  };
}

/** @throws HostError `usage` */
export function anAnswer(value: unknown, name: string): Answer {
  const given = anObject(value, name);
  const read = <T>(member: string, reader: (value: unknown, name: string) => T): T =>
    reader(given[member], `${name}.${member}`);
  const kind = read("kind", oneOf("request", "form", "address", "sign_in"));
  switch (kind) {
    case "request":
      return {
        kind,
        choice: read("choice", oneOf("no", "once", "conversation", "server", "always")),
        because: read("because", optional(anyText)),
      };
    case "form": {
      const action = read("action", oneOf("accept", "decline", "cancel"));
      return action === "accept" ? { kind, action, content: read("content", anObject) } : { kind, action };
    }
    case "address":
      return { kind, action: read("action", oneOf("accept", "decline", "cancel")) };
    case "sign_in":
      return { kind, action: read("action", oneOf("accept", "cancel")), pasted: read("pasted", optional(aText)) };
  }
}
