/** A client's request that a person must confirm, and the key that its approval is stored under. */

import { hash } from "node:crypto";
import type { IdentifiedServer } from "@fairlead/core/host/gateway-types";
import type { ToolCallConfirmationDetails } from "@fairlead/core/registry/confirmation";
import type { Difference } from "@fairlead/core/server/tool-changes";
import { toVisibleLine } from "@fairlead/core/text";
import { canonicalJson } from "@fairlead/core/text/canonical-json";
import type { JsonObject } from "@fairlead/wire";

/**
 * The answers that a person can give. `always` is offered on the gateway's page and in the terminal, but not in a
 * client's form.
 */
export type ConsentAnswer = "no" | "once" | "conversation" | "always";

/**
 * Returns what an answer means if the request no longer waits for it: a yes of any kind allows the next identical
 * request, once. The conversation of the request may have ended, and the next one may belong to another program.
 */
export function lateAnswer(answer: ConsentAnswer): "no" | "once" {
  return answer === "no" ? "no" : "once";
}

/** The request that a confirmation asks about. */
export interface ConfirmedRequest {
  readonly server: string;
  readonly kind: "tool" | "resource" | "prompt" | "sampling";
  /** The server's name for the tool or prompt, or the resource's URI. Not safe to print. */
  readonly name: string;
  /** Identifies the server's program. Another workspace may have a different server with the same name. */
  readonly identity?: IdentifiedServer | undefined;
}

/** What a person sees before answering. The texts are not safe to print. */
export interface ConsentQuestion extends Omit<ConfirmedRequest, "identity"> {
  /** The client's name. It comes from the settings entry or the token, not from the client itself. */
  readonly client: string;
  /** The exact arguments that will be sent. */
  readonly args: JsonObject;
  /** The rule that requires confirmation. */
  readonly reason: string;
  /** How the tool's definition differs from the accepted one. Absent if it has not changed. */
  readonly change?: readonly Difference[] | undefined;
  /** The workspace folder of the server. */
  readonly folder?: string | undefined;
  /** The answers that are offered for this request. */
  readonly answers: readonly ConsentAnswer[];
  /**
   * The key of an approval: a digest of client, server, workspace, name, arguments and change. An approval is valid
   * only for the same key.
   */
  readonly key: string;
  /** Digest of the arguments. It helps a person to compare long arguments that are shown in part. */
  readonly digest: string;
}

/**
 * Creates the confirmation from the request and the details of the host, such as the arguments and the rule.
 */
export function toQuestion(
  client: string,
  request: ConfirmedRequest,
  { args, rule, change, outcomes }: ToolCallConfirmationDetails,
): ConsentQuestion {
  const { server, kind, name, identity } = request;
  const { fingerprint, root } = identity ?? {};
  const written = canonicalJson(args);
  const holds = outcomes.some((outcome) => outcome === "proceed_always_tool" || outcome === "proceed_always_server");
  // After a change of the definition, a person allows the new one in this conversation first.
  const canBeSaved = outcomes.includes("proceed_always_and_save") && kind === "tool" && change === undefined;
  return {
    client,
    server,
    kind,
    name,
    args,
    reason: [rule?.text, rule?.doubt].filter((text) => text !== undefined).join("; "),
    change,
    folder: root,
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

/** Returns a text for messages, such as `files.write_file` or `the prompt review of files`. Safe to print. */
export function confirmedName({ server, kind, name }: ConfirmedRequest): string {
  const [at, subject] = [shownName(server), shownName(name)];
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

/** Longer names are cut to this many characters. */
const mostShown = 200;

/** Names of ASCII characters with single spaces. Other names may look like them, or like each other. */
const plain = /^[!-~]+(?: [!-~]+)*$/;

/** Returns a name so that no two names look alike: a cut is marked, and the digest differs. */
function shownName(name: string): string {
  const text = toVisibleLine(name.slice(0, 5 * mostShown));
  const isCut = name.length > 5 * mostShown || text.length > mostShown;
  if (!isCut && plain.test(name)) return text;
  const cut = isCut ? `${text.slice(0, mostShown)}…` : text;
  return `${cut} ⟨${name.length} characters, sha256 ${hash("sha256", name).slice(0, 16)}⟩`;
}
