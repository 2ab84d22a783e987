/**
 * Turns errors of Google's library into `HostError`s. Reads only known fields of a response, because error messages may
 * contain secrets.
 */

import { isObject, textIn } from "@fairlead/wire/json";
import { clip, errorMessage } from "@fairlead/wire/text";
import { HostError } from "../../errors.ts";

/** The command with which a person signs in to Google. */
export const signInWithGoogle = "gcloud auth application-default login";

const longestReason = 300;
/** Errors after which the person must sign in to Google again. */
const signInAgain = new Set(["invalid_grant", "invalid_rapt", "rapt_required"]);

/** The server's name and the credentials' kind, for the error message. */
export interface GoogleFailureFacts {
  readonly serverName: string;
  /** What the person should do if Google answers 403. */
  readonly forbidden?: string;
  /** True if the credentials belong to a program. Then a new sign-in would not help. */
  readonly isWorkload?: boolean;
}

/** Returns a `HostError` unchanged, and any other error as `auth_required` or `auth_failed`. */
export function toGoogleError(error: unknown, facts: GoogleFailureFacts): HostError {
  if (error instanceof HostError) return error;
  const { serverName, forbidden, isWorkload = false } = facts;
  const { status, code, reason } = readAnswer(error);
  if (!isWorkload && code !== undefined && signInAgain.has(code))
    return new HostError("auth_required", `Google requires a new sign-in for "${serverName}" (${reason})`, {
      serverName,
      next: signInWithGoogle,
    });
  return new HostError("auth_failed", `Google returned no token for "${serverName}": ${reason}`, {
    serverName,
    next: (status === 403 ? forbidden : undefined) ?? "Check your Google credentials and the network, then try again.",
  });
}

interface Answer {
  readonly status?: number;
  /** The OAuth error code of the response. */
  readonly code?: string;
  readonly reason: string;
}

function readAnswer(error: unknown): Answer {
  const response: unknown = error instanceof Error && "response" in error ? error.response : undefined;
  if (!isObject(response)) return { reason: clip(wordsOf(error), longestReason) };
  const status = typeof response["status"] === "number" ? response["status"] : 0;
  const data = isObject(response["data"]) ? response["data"] : {};
  const inner = isObject(data["error"]) ? data["error"] : {};
  const code = textIn(data, "error");
  const said = [code ?? textIn(inner, "status"), textIn(data, "error_description") ?? textIn(inner, "message")];
  const words = said.filter((part) => part !== undefined).join(": ");
  return { status, code, reason: clip(words === "" ? `HTTP ${status}` : words, longestReason) };
}

function wordsOf(error: unknown): string {
  return errorMessage(error instanceof Error && error.cause instanceof HostError ? error.cause : error);
}
