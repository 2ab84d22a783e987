/** A client's request that a person must confirm: what it is, and the key that a yes is bound to. */

import { hash } from "node:crypto";
import type { Difference } from "@fairlead/core/discover/tool-changes";
import type { ToolCallConfirmationDetails } from "@fairlead/core/registry/confirmation";
import { toSafeLine } from "@fairlead/core/text";
import { canonicalJson } from "@fairlead/core/text/canonical-json";
import type { JsonObject } from "@fairlead/wire";

/** What a person can answer. `always` is offered on the page and in the terminal, never in a form of the client. */
export type ConsentAnswer = "no" | "once" | "conversation" | "always";

/** The subject of a question. */
export interface ConfirmedRequest {
  readonly server: string;
  readonly kind: "tool" | "resource" | "prompt" | "sampling";
  /** The server's own name of the tool or the prompt, or the URI of the resource. Raw. */
  readonly name: string;
}

/** Everything that a person sees of a request. Texts are raw. */
export interface ConsentQuestion extends ConfirmedRequest {
  /** The name of the client, from its entry or token. */
  readonly client: string;
  /** Exactly the arguments that will be sent. */
  readonly args: JsonObject;
  /** The rule that asks. */
  readonly reason: string;
  /** How the definition differs from the accepted one. */
  readonly change?: readonly Difference[] | undefined;
  /** The answers that can take effect. */
  readonly answers: readonly ConsentAnswer[];
  /** A yes holds for this client, server, name, these arguments and this change only. */
  readonly key: string;
  /** Digest of the arguments, for a person who sees only the beginning of them. */
  readonly digest: string;
}

/**
 * The question about a request, from the confirmation of the host.
 *
 * @param canSave Whether a rule for all later requests can be written.
 */
export function toQuestion(
  client: string,
  request: ConfirmedRequest,
  { args, rule, change, outcomes }: ToolCallConfirmationDetails,
  canSave: boolean,
): ConsentQuestion {
  const { server, kind, name } = request;
  const written = canonicalJson(args);
  const holds = outcomes.some((outcome) => outcome === "proceed_always_tool" || outcome === "proceed_always_server");
  // A rule for a definition that the user has not accepted yet would say more than they have seen.
  const isSaved = canSave && holds && kind === "tool" && change === undefined;
  return {
    client,
    server,
    kind,
    name,
    args,
    reason: [rule?.text, rule?.doubt].filter((text) => text !== undefined).join("; "),
    ...(change && { change }),
    answers: ["no", "once", ...(holds ? (["conversation"] as const) : []), ...(isSaved ? (["always"] as const) : [])],
    key: hash("sha256", canonicalJson([client, server, kind, name, written, change ?? null])),
    digest: hash("sha256", written).slice(0, 16),
  };
}

/** The request in a sentence: `files.write_file`, or `prompt "review" of files`. Safe to print. */
export function nameOf({ server, kind, name }: ConfirmedRequest): string {
  const [at, subject] = [toSafeLine(server.slice(0, 200)), toSafeLine(name.slice(0, 200))];
  switch (kind) {
    case "tool":
      return `${at}.${subject}`;
    case "resource":
      return `the resource ${subject} of ${at}`;
    case "prompt":
      return `the prompt ${subject} of ${at}`;
    case "sampling":
      return `a model request of ${at}`;
  }
}
