/** A client's request that a person must confirm, and the key that identifies the request in an approval. */

import { hash } from "node:crypto";
import type { Difference } from "@fairlead/core/discover/tool-changes";
import type { IdentifiedServer } from "@fairlead/core/host/gateway-types";
import type { ToolCallConfirmationDetails } from "@fairlead/core/registry/confirmation";
import { toSafeLine } from "@fairlead/core/text";
import { canonicalJson } from "@fairlead/core/text/canonical-json";
import type { JsonObject } from "@fairlead/wire";

/**
 * The answers that a person can give. `always` is offered on the gateway's page and in the terminal. A form of the
 * client does not offer it.
 */
export type ConsentAnswer = "no" | "once" | "conversation" | "always";

/** The request that a confirmation asks about. */
export interface ConfirmedRequest {
  readonly server: string;
  readonly kind: "tool" | "resource" | "prompt" | "sampling";
  /** The name of the tool or prompt on its server, or the URI of the resource. Not safe to print. */
  readonly name: string;
  /** Identifies the server. A server of the same name in another workspace can be a different program. */
  readonly identity?: IdentifiedServer | undefined;
}

/** Everything that a confirmation shows to a person about a request. The texts are not safe to print. */
export interface ConsentQuestion extends Omit<ConfirmedRequest, "identity"> {
  /** The client's name, from its settings entry or token. */
  readonly client: string;
  /** The exact arguments that will be sent. */
  readonly args: JsonObject;
  /** The rule that requires confirmation. */
  readonly reason: string;
  /** How the tool's definition differs from the accepted definition. */
  readonly change?: readonly Difference[] | undefined;
  /** The workspace in which the server runs. */
  readonly folder?: string | undefined;
  /** The answers that are offered for this request. */
  readonly answers: readonly ConsentAnswer[];
  /**
   * The key of an approval. The approval is valid only for a request with the same client, server, workspace, name and
   * arguments, and the same change of the definition.
   */
  readonly key: string;
  /** Digest of the arguments, for a person who sees only the beginning of long arguments. */
  readonly digest: string;
}

/**
 * Creates the confirmation for a request from the details of the host, such as the arguments and the rule.
 *
 * @param canSave Whether the gateway can write a rule that allows all later requests.
 */
export function toQuestion(
  client: string,
  request: ConfirmedRequest,
  { args, rule, change, outcomes }: ToolCallConfirmationDetails,
  canSave: boolean,
): ConsentQuestion {
  const { server, kind, name, identity } = request;
  const { fingerprint, root } = identity ?? {};
  const written = canonicalJson(args);
  const holds = outcomes.some((outcome) => outcome === "proceed_always_tool" || outcome === "proceed_always_server");
  // If the definition has changed, "always" is not offered, because the rule would also allow later changes.
  const canBeSaved = canSave && holds && kind === "tool" && change === undefined;
  return {
    client,
    server,
    kind,
    name,
    args,
    reason: [rule?.text, rule?.doubt].filter((text) => text !== undefined).join("; "),
    ...(change && { change }),
    ...(root !== undefined && { folder: root }),
    answers: [
      "no",
      "once",
      ...(holds ? (["conversation"] as const) : []),
      ...(canBeSaved ? (["always"] as const) : []),
    ],
    key: hash(
      "sha256",
      canonicalJson([client, server, fingerprint ?? null, root ?? null, kind, name, written, change ?? null]),
    ),
    digest: hash("sha256", written).slice(0, 16),
  };
}

/**
 * Returns a name for the request, such as `files.write_file` or `the prompt review of files`. It has no control
 * characters.
 */
export function confirmedName({ server, kind, name }: ConfirmedRequest): string {
  const [at, subject] = [toSafeLine(server.slice(0, 200)), toSafeLine(name.slice(0, 200))];
  switch (kind) {
    case "tool":
      return `${at}.${subject}`;
    case "resource":
      return `the resource ${subject} of ${at}`;
    case "prompt":
      return `the prompt ${subject} of ${at}`;
    case "sampling":
      return `a sampling request of ${at}`;
  }
}
