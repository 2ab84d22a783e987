/** What an API says instead of an answer, as an error for the person who must act: what happened, and what to do next. */

import { clip, errorMessage } from "@fairlead/wire/text";
import type { Redact } from "../connect/redact.ts";
import { HostError } from "../errors.ts";
import type { ModelFailure } from "./attempts.ts";

/** Whom we talk to, in the words of our messages. */
export interface ModelApi {
  /** "the Gemini API", an address. */
  readonly title: string;
  readonly model: string;
  /** What to do if the key or the account is refused. */
  readonly keyNext: string;
  /** What to do if the model is not known. */
  readonly modelNext: string;
  /** What to do if nobody answers. */
  readonly reachNext: string;
  /** Takes the key out of whatever the API repeats. */
  readonly redact: Redact;
}

export type ProblemKind =
  /** The key or the account is not accepted, or may not do this. */
  | "key"
  | "model_unknown"
  | "quota"
  /** More than the model can read at once. */
  | "too_long"
  /** The model calls no functions. */
  | "no_functions"
  | "too_many_functions"
  /** Theirs, and passing. */
  | "unavailable"
  | "other";

/** A refusal, read by someone who knows the API. */
export interface ApiProblem {
  readonly kind: ProblemKind;
  readonly status: number;
  /** The API's own words. */
  readonly message: string;
  /** How long it asks to be left alone. */
  readonly afterMs?: number;
  /** A quota that waiting a little does not help: that of a day, or an empty account. */
  readonly isSpent?: boolean;
}

const longestWords = 1_000;

/** Short enough for a message, and without what nobody should see. */
export function apiWords(text: string, { redact }: Pick<ModelApi, "redact">): string {
  return clip(redact(text).trim(), longestWords);
}

/** As far as the API speaks for itself: what it quotes may be a schema, and say anything. */
export function ownWords(message: string): string {
  return message.slice(0, 300).split(/["`{]|(?<!\w)'/, 1)[0] ?? "";
}

export function toFailure(problem: ApiProblem, api: ModelApi): ModelFailure {
  const { kind, status, afterMs, isSpent = false } = problem;
  const words = apiWords(problem.message, api);
  const [what, next] = explain(kind, status, api);
  const error = new HostError("model", words === "" ? what : `${what}: ${words}`, next === undefined ? {} : { next });
  if (isSpent || (kind !== "quota" && kind !== "unavailable")) return { error };
  const reason = kind === "quota" ? `${api.title} has no room (${status})` : `${api.title} answered ${status}`;
  return { error, again: { reason, ...(afterMs !== undefined && { afterMs }) } };
}

function explain(
  kind: ProblemKind,
  status: number,
  { title, model, keyNext, modelNext }: ModelApi,
): readonly [string, string?] {
  switch (kind) {
    case "key":
      return [`${title} does not accept the credentials (${status})`, keyNext];
    case "model_unknown":
      return [`${title} does not know the model "${model}"`, modelNext];
    case "quota":
      return [
        `${title} has no quota left for you (${status})`,
        "Wait and try again, or choose another model: --model NAME",
      ];
    case "too_long":
      return [`the conversation is too long for "${model}"`, "Begin a new one, offer fewer tools, or refer to less."];
    case "no_functions":
      return [`"${model}" cannot call tools`, "Choose a model that can: --model NAME"];
    case "too_many_functions":
      return [`${title} does not take so many tools`, "Offer fewer: --servers NAME,NAME"];
    case "unavailable":
      return [`${title} is not available now (${status})`, "Try again in a while."];
    case "other":
      return [`${title} refused the request (${status})`];
  }
}

/** No answer at all, or one that broke off. */
export function toLostFailure(error: unknown, api: ModelApi): ModelFailure {
  if (error instanceof HostError && error.code === "cancelled") return { error };
  if (error instanceof HostError && error.code === "lost") return brokenOff(api);
  const isOurs = error instanceof HostError;
  const words = apiWords(errorMessage(error), api);
  const never = isOurs && (error.code === "proxy" || error.code === "tls" || error.code === "unreachable");
  if (never) return { error: new HostError("model", words, { next: api.reachNext }) };
  // A sign-in that failed, say: it knows what to do.
  if (isOurs) return { error: new HostError("model", words, error.next === undefined ? {} : { next: error.next }) };
  return { error: new HostError("model", `the answer of ${api.title} makes no sense: ${words}`) };
}

/** The connection was closed before the answer was whole. */
export function brokenOff(api: ModelApi): ModelFailure {
  return {
    error: new HostError("model", `the answer of ${api.title} broke off`, { next: "Try again." }),
    again: { reason: `the answer of ${api.title} broke off` },
  };
}
