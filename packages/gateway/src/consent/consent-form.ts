/** The form (elicitation) in which a client asks its own user to confirm a request. */

import { choiceText, requestName, requestVerbs } from "@fairlead/core/policy";
import { toVisibleLine } from "@fairlead/core/text/safe-text";
import type { JsonObject } from "@fairlead/wire";
import { excerpt, objectOf } from "@fairlead/wire/json";
import type { ConsentAnswer, ConsentQuestion } from "./confirmed-request.ts";

/** Longer texts, such as arguments, are cut to this many characters. */
const mostShown = 1000;
/** The values that a client sends back. Clients that do not support `enumNames` show them. */
const words = { no: "no", once: "once", conversation: "this conversation" } as const;

/** Returns the parameters of `elicitation/create`. */
export function formFor(question: ConsentQuestion): JsonObject {
  const offered = question.answers.flatMap((answer) => (isInForm(answer) ? answer : []));
  return {
    message: messageFor(question),
    requestedSchema: {
      type: "object",
      properties: {
        decision: {
          type: "string",
          title: question.kind === "host" ? "Connect?" : "Run it?",
          enum: offered.map((answer) => words[answer]),
          enumNames: offered.map((answer) => choiceText(answer, question)),
          default: words.no,
        },
      },
      required: ["decision"],
    },
  };
}

/**
 * Returns the user's answer: the offered answer that the user chose, or "no" if the user declined the form. Everything
 * else, such as `cancel`, is no answer: returns undefined.
 */
export function answerIn({ action, content }: JsonObject, { answers }: ConsentQuestion): ConsentAnswer | undefined {
  if (action === "decline") return "no";
  if (action !== "accept") return undefined;
  const { decision } = objectOf(content);
  return answers.find((answer) => isInForm(answer) && words[answer] === decision);
}

function isInForm(answer: ConsentAnswer): answer is keyof typeof words {
  return Object.hasOwn(words, answer);
}

/** Returns the form's text. It names the client, the request, its arguments and the rule. */
export function messageFor(question: ConsentQuestion): string {
  const { client, server, name, kind, args, reason, change, digest, folder, hints, flags, sandbox } = question;
  const written = excerpt(args, Number.POSITIVE_INFINITY);
  const cut = written.length > mostShown ? `… (${written.length} characters, sha256 ${digest})` : ` (sha256 ${digest})`;
  const line = (label: string, text: string | undefined): readonly string[] =>
    text ? [`${label}: ${toVisibleLine(text.slice(0, mostShown))}`] : [];
  return [
    ...(kind === "host"
      ? [`Fairlead asks: ${toVisibleLine(server)} wants ${toVisibleLine(name)}. May it connect?`]
      : [
          `Fairlead asks: may ${toVisibleLine(client)} ${requestVerbs[kind]} ${requestName(question)}?`,
          `Arguments: ${toVisibleLine(written.slice(0, mostShown))}${cut}`,
        ]),
    ...line("Folder", folder),
    ...(change === undefined ? [] : [`The definition has changed: ${changeText(change)}`]),
    ...line("Server", sandbox),
    ...line("Hints", hints),
    ...(flags?.split("\n").flatMap((flag) => line("Flag", flag)) ?? []),
    ...line("Reason", reason),
    ...(kind === "resource" && question.answers.includes("conversation")
      ? [`The answer "this conversation" allows all resources of ${toVisibleLine(question.server)}.`]
      : []),
  ].join("\n");
}

function changeText(change: NonNullable<ConsentQuestion["change"]>): string {
  const text = change.map(({ member, before = "", after = "" }) => `${member}: "${before}" → "${after}"`).join("; ");
  return `${toVisibleLine(text.slice(0, mostShown))}${text.length > mostShown ? "…" : ""}`;
}
