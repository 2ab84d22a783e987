/** Converts failures of a model's API to errors for the user, with the next step. */

import { clip, errorMessage } from "@fairlead/wire/text";
import type { Redact } from "../connect/redact.ts";
import { HostError } from "../errors.ts";
import type { AttemptEvent, ModelFailure } from "./attempts.ts";
import type { ModelEvent } from "./model.ts";

/** The name of a model's API, and the user's next step for each kind of failure. */
export interface ModelApi {
  /** The name of the API in messages: "the Gemini API", or a URL. */
  readonly title: string;
  readonly model: string;
  /** The next step if the key or the account is refused. */
  readonly keyNext: string;
  /** The next step if the model is unknown. */
  readonly modelNext: string;
  /** The next step if the API cannot be reached. */
  readonly reachNext: string;
  /** Removes the API key from a text that the API sent. */
  readonly redact: Redact;
}

/** The kinds of errors that an API reports. */
export type ProblemKind =
  /** The API refuses the key or the account, for example because a permission is missing. */
  | "key"
  | "model_unknown"
  | "quota"
  /** The conversation is longer than the model accepts. */
  | "too_long"
  /** The model does not support function calls. */
  | "no_functions"
  | "too_many_functions"
  /** A temporary failure of the API. */
  | "unavailable"
  | "other";

/** An error response of a model's API, classified. */
export interface ApiProblem {
  readonly kind: ProblemKind;
  readonly status: number;
  /** The API's own message. */
  readonly message: string;
  /** The waiting time that the API asks for, in milliseconds. */
  readonly afterMs?: number;
  /** True if a short pause does not help: the daily quota is used up, or the account has no credit left. */
  readonly isSpent?: boolean;
}

const longestWords = 1_000;

/** Shortens the API's text and removes secrets. */
export function apiWords(text: string, { redact }: Pick<ModelApi, "redact">): string {
  return clip(redact(text).trim(), longestWords);
}

/** The beginning of an error message, up to the first quotation mark or `{`. The text after it may quote a schema. */
export function ownWords(message: string): string {
  return message.slice(0, 300).split(/["`{]|(?<!\w)'/, 1)[0] ?? "";
}

/** Converts a problem that an API reports to a failure. The failure has the member `again` if a retry may help. */
export function toModelFailure(problem: ApiProblem, api: ModelApi): ModelFailure {
  const { kind, status, afterMs, isSpent = false } = problem;
  const words = apiWords(problem.message, api);
  const [what, next] = explain(kind, status, api);
  const error = new HostError("model", words === "" ? what : `${what}: ${words}`, { next });
  if (isSpent || (kind !== "quota" && kind !== "unavailable")) return { error };
  const reason =
    kind === "quota" ? `the quota of ${api.title} is used up (${status})` : `${api.title} answered ${status}`;
  return { error, again: { reason, afterMs } };
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
      return [`${title} has no quota left (${status})`, "Wait and try again, or choose another model: --model NAME"];
    case "too_long":
      return [
        `the conversation is too long for "${model}"`,
        "Begin a new conversation, use fewer servers, or refer to fewer resources.",
      ];
    case "no_functions":
      return [`"${model}" cannot call tools`, "Choose a model that can call tools: --model NAME"];
    case "too_many_functions":
      return [`${title} does not accept so many tools`, "Use fewer servers: --servers NAME,NAME"];
    case "unavailable":
      return [`${title} is not available now (${status})`, "Try again in a while."];
    case "other":
      return [`${title} refused the request (${status})`];
  }
}

/** Creates the failure for an API that did not answer, or whose answer ended too early. */
export function toLostFailure(error: unknown, api: ModelApi): ModelFailure {
  if (error instanceof HostError && error.code === "cancelled") return { error };
  if (error instanceof HostError && error.code === "lost") return brokenOff(api);
  const isOurs = error instanceof HostError;
  const words = apiWords(errorMessage(error), api);
  const never = isOurs && (error.code === "proxy" || error.code === "tls" || error.code === "unreachable");
  if (never) return { error: new HostError("model", words, { next: api.reachNext }) };
  // A `HostError` of Fairlead itself, for example about a failed sign-in, keeps its own next step.
  if (isOurs) return { error: new HostError("model", words, { next: error.next }) };
  return { error: new HostError("model", `the answer of ${api.title} is invalid: ${words}`) };
}

/**
 * Creates the last event of an attempt that the API refused. `rejection`: the event if the API probably refused the
 * request because of a tool declaration.
 */
export function toRefusedEvent(
  problem: ApiProblem,
  rejection: (ModelEvent & { readonly type: "rejected" }) | undefined,
  api: ModelApi,
): AttemptEvent {
  if (rejection === undefined) return { type: "failed", failure: toModelFailure(problem, api) };
  return { ...rejection, message: apiWords(rejection.message, api) };
}

/** Creates the failure for a connection that was closed before the answer was complete. */
export function brokenOff(api: ModelApi): ModelFailure {
  return {
    error: new HostError("model", `the answer of ${api.title} broke off`, { next: "Try again." }),
    again: { reason: `the answer of ${api.title} broke off` },
  };
}

/** An HTTP error response whose body has been read. */
export interface Refusal {
  readonly status: number;
  readonly body: string;
  readonly retryAfter?: string;
}

/** Reads the whole body of an error response. */
export async function readRefusal(response: Response): Promise<Refusal> {
  const retryAfter = response.headers.get("retry-after");
  const body = await response.text();
  return { status: response.status, body, retryAfter: retryAfter ?? undefined };
}
