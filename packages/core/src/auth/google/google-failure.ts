/** What went wrong with Google's credentials, in the host's words. What the library says may quote a request: only known fields of an answer are taken. */

import { isObject, textIn } from "@fairlead/wire/json";
import { clip, errorMessage } from "@fairlead/wire/text";
import { HostError } from "../../errors.ts";

export const signInWithGoogle = "gcloud auth application-default login";

const longestReason = 300;
/** The person's consent has ended, or their organisation wants to see them again. */
const signInAgain = new Set(["invalid_grant", "invalid_rapt", "rapt_required"]);

export interface GoogleFailureFacts {
  readonly serverName: string;
  /** What to do where Google answered that it is not permitted. */
  readonly forbidden?: string;
}

export function toGoogleError(error: unknown, { serverName, forbidden }: GoogleFailureFacts): HostError {
  if (error instanceof HostError) return error;
  const { status, code, reason } = readAnswer(error);
  if (code !== undefined && signInAgain.has(code))
    return new HostError("auth_required", `Google wants you to sign in again for "${serverName}" (${reason})`, {
      serverName,
      next: signInWithGoogle,
    });
  return new HostError("auth_failed", `Google gave no token for "${serverName}": ${reason}`, {
    serverName,
    next: (status === 403 ? forbidden : undefined) ?? "Check your Google credentials and the network, then try again.",
  });
}

interface Answer {
  readonly status?: number;
  /** As OAuth names its errors. */
  readonly code?: string;
  readonly reason: string;
}

/** The library's errors carry the answer, if there was one. */
function readAnswer(error: unknown): Answer {
  const response: unknown = error instanceof Error && "response" in error ? error.response : undefined;
  if (!isObject(response)) return { reason: clip(wordsOf(error), longestReason) };
  const status = typeof response["status"] === "number" ? response["status"] : 0;
  const data = isObject(response["data"]) ? response["data"] : {};
  const inner = isObject(data["error"]) ? data["error"] : {};
  const code = textIn(data, "error");
  const said = [code ?? textIn(inner, "status"), textIn(data, "error_description") ?? textIn(inner, "message")];
  const words = said.filter((part) => part !== undefined).join(": ");
  return {
    status,
    ...(code !== undefined && { code }),
    reason: clip(words === "" ? `it answered ${status}` : words, longestReason),
  };
}

/** Our own words, where it was our own `fetch` that failed. */
function wordsOf(error: unknown): string {
  return errorMessage(error instanceof Error && error.cause instanceof HostError ? error.cause : error);
}
