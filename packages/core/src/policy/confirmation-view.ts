/**
 * What a person sees before answering a confirmation, and the answers to choose from. The terminal app, the typed
 * confirmation, a client's form, the approval page and `fairlead approvals` lay out this one view.
 */

import { hash } from "node:crypto";
import { isIP } from "node:net";
import { domainToUnicode } from "node:url";
import type { JsonObject } from "@fairlead/wire";
import type { Difference } from "../server/tool-changes.ts";
import { canonicalJson } from "../text/canonical-json.ts";
import { flagWords } from "../text/flags.ts";
import { type SafeText, safe, sliceSafe, toSafeLine, toVisibleLine } from "../text/safe-text.ts";
import { type ToolCallConfirmationDetails, ToolConfirmationOutcome } from "./confirmation.ts";
import type { Requester } from "./decide.ts";
import type { RequestKind } from "./rules/rule.ts";

/**
 * An answer that a person can choose. `conversation`: this tool until the conversation ends, or all resources of the
 * server. `server`: all tools of the server until then. `always`: saves an approval.
 */
export type ConfirmationChoice = "no" | "once" | "conversation" | "server" | "always";

/** The request that a confirmation asks about. */
export interface ConfirmedRequest {
  readonly server: string;
  readonly kind: RequestKind;
  /** The server's name for the tool or prompt, or the resource's URI. */
  readonly name: string;
}

/** Who sent the request of a confirmation. */
export interface ConfirmationAsker {
  readonly who: Requester;
  /** The name of the gateway's client. It comes from the settings entry or the token, not from the client itself. */
  readonly client?: string | undefined;
  /** The workspace folder of the server, for a client's request. */
  readonly folder?: string | undefined;
  /** Whether the request comes from a view of a tool (MCP Apps) that the person sees. */
  readonly isView?: boolean | undefined;
}

/** A confirmation as a person sees it. Its texts come from servers and clients and are not safe to print. */
export interface ConfirmationView extends ConfirmedRequest, ConfirmationAsker {
  /** The id with which a person can answer a client's request elsewhere, such as in `fairlead approvals`. */
  readonly id?: string | undefined;
  /** The name that the model uses, if it differs from the tool's name. */
  readonly modelName?: string | undefined;
  /** The tool's description by its server. */
  readonly description?: string | undefined;
  /** What the server claims about the tool in annotations, in words. */
  readonly hints?: string | undefined;
  /** What is suspicious in the definition, in words: one line for each flag. Absent if nothing is. */
  readonly flags?: string | undefined;
  /** The sandbox of the server's program, in words. Absent if it has none. */
  readonly sandbox?: string | undefined;
  /** The exact arguments that will be sent, or their beginning if `isCut`. */
  readonly args: JsonObject;
  readonly isCut?: boolean | undefined;
  /** Digest of the exact arguments. It helps a person to compare long arguments that are shown in part. */
  readonly digest: string;
  /** The rule that requires the confirmation, and any doubt about the definition. Empty if there is no rule. */
  readonly reason: string;
  /** The group of which a member must answer, and not the user who sends the request. Absent: the user answers. */
  readonly approver?: string | undefined;
  /** How the definition differs from the accepted one. Absent if it has not changed. */
  readonly change?: readonly Difference[] | undefined;
  /** The answers that can take effect. */
  readonly answers: readonly ConfirmationChoice[];
  /** Whether the person may run the call with other arguments. */
  readonly canEdit?: boolean | undefined;
  /** When the confirmation expires, in milliseconds since 1970. */
  readonly deadline?: number | undefined;
}

/** Returns what a person sees of a confirmation of the host. */
export function toConfirmationView(details: ToolCallConfirmationDetails, asker: ConfirmationAsker): ConfirmationView {
  const { kind = "tool", toolName, toolDisplayName, args, annotations, change, flags = [] } = details;
  return {
    ...asker,
    server: details.serverName,
    kind,
    name: toolName,
    modelName: kind === "tool" && toolDisplayName !== toolName ? toolDisplayName : undefined,
    description: details.description === "" ? undefined : details.description,
    hints: kind === "host" ? hostHint(toolName) : annotations && hintWords(annotations),
    sandbox: details.sandbox,
    flags: flags.length === 0 ? undefined : flags.map(flagWords).join("\n"),
    args,
    digest: hash("sha256", canonicalJson(args)).slice(0, 16),
    reason: reasonOf(details),
    approver: details.rule?.approver,
    change,
    answers: answersOf(details, asker),
    canEdit: details.canEdit,
  };
}

/** A name with letters of other alphabets may look like another one. It is shown in both spellings. */
function hostHint(host: string): string | undefined {
  const name = host.replace(/:\d+$/, "");
  if (isIP(name.replace(/^\[|\]$/g, "")) !== 0) return "an address without a name";
  const read = name.split(".").some((label) => label.startsWith("xn--")) ? domainToUnicode(name) : "";
  return read === "" || read === name ? undefined : `looks like "${read}", with letters of other alphabets`;
}

function reasonOf({ rule }: ToolCallConfirmationDetails): string {
  const { text = "", doubt = "" } = rule ?? {};
  // The rule for definitions that may have changed already says why.
  return text.includes(doubt) ? text : `${text}; ${doubt}`;
}

function answersOf(
  { kind = "tool", outcomes, change }: ToolCallConfirmationDetails,
  { who }: ConfirmationAsker,
): readonly ConfirmationChoice[] {
  const isOffered: Readonly<Record<Exclude<ConfirmationChoice, "no">, boolean>> = {
    once: true,
    conversation: true,
    // An approval of a client is for one tool.
    server: kind === "tool" && who !== "client",
    // After a change of the definition, a person allows it to a client in this conversation first.
    always: (kind === "tool" || kind === "skill" || kind === "host") && (who !== "client" || change === undefined),
  };
  const yeses = (["once", "conversation", "server", "always"] as const).filter(
    (choice) => isOffered[choice] && outcomes.includes(outcomeOf(choice, kind)),
  );
  return ["no", ...yeses];
}

/** Returns the host's outcome for an answer. The host counts a yes that it did not offer as a yes for this request. */
export function outcomeOf(choice: ConfirmationChoice, kind: RequestKind = "tool"): ToolConfirmationOutcome {
  switch (choice) {
    case "no":
      return ToolConfirmationOutcome.Cancel;
    case "once":
      return ToolConfirmationOutcome.ProceedOnce;
    case "conversation":
      // Resources can be approved only all together.
      return kind === "resource"
        ? ToolConfirmationOutcome.ProceedAlwaysServer
        : ToolConfirmationOutcome.ProceedAlwaysTool;
    case "server":
      return ToolConfirmationOutcome.ProceedAlwaysServer;
    case "always":
      return ToolConfirmationOutcome.ProceedAlwaysAndSave;
  }
}

/** Returns the text of an answer: what it allows, how long, and what it saves. */
export function choiceText(
  choice: ConfirmationChoice,
  { who, kind, isView = false }: Pick<ConfirmationView, "who" | "kind" | "isView">,
): string {
  if (kind === "host") return hostChoices[choice];
  const thisOne = kind === "skill" ? "this skill" : "this tool";
  const end = isView ? "this view closes" : who === "client" ? "the program disconnects" : "the conversation ends";
  const asker = isView ? "for views of this server " : who === "client" ? "for this program " : "";
  switch (choice) {
    case "no":
      return "no";
    case "once":
      return "yes, once";
    case "conversation":
      return `${kind === "resource" ? "all resources of the server" : thisOne}, until ${end}`;
    case "server":
      return `all tools of the server, until ${end}`;
    case "always":
      return `${thisOne}, always ${asker}(saves an approval)`;
  }
}

/** A host is reached from a sandbox, so the answers say how long it stays open. */
const hostChoices: Readonly<Record<ConfirmationChoice, string>> = {
  no: "no",
  once: "yes, once (until the server ends)",
  conversation: "yes, once (until the server ends)",
  server: "yes, once (until the server ends)",
  always: "yes, always (this server as it is configured; saves an approval)",
};

/** The verb of the question about a request, such as `run` in "Run files.write_file?". */
export const requestVerbs: Readonly<Record<RequestKind, SafeText>> = {
  tool: safe`run`,
  resource: safe`read`,
  prompt: safe`get`,
  sampling: safe`answer`,
  skill: safe`load`,
  host: safe`reach`,
};

/** Returns the name of a request for messages, such as `files.write_file` or `the prompt review of files`. */
export function requestName({ server, kind, name }: ConfirmedRequest): SafeText {
  const [at, subject] = [shownName(server), shownName(name)];
  switch (kind) {
    case "tool":
      return safe`${at}.${subject}`;
    case "resource":
      return safe`the resource ${subject} of ${at}`;
    case "prompt":
      return safe`the prompt ${subject} of ${at}`;
    case "sampling":
      return safe`a sampling request of ${at}`;
    case "skill":
      return safe`the skill ${subject} of ${at}`;
    case "host":
      return safe`the host ${subject} for ${at}`;
  }
}

/** Longer names are cut to this many characters. */
const mostShown = 200;

/** Names of ASCII characters with single spaces. Other names may look like them, or like each other. */
const plain = /^[!-~]+(?: [!-~]+)*$/;

/** Returns a name so that no two names look alike: a cut is marked, and the digest differs. */
function shownName(name: string): SafeText {
  const text = toVisibleLine(name.slice(0, 5 * mostShown));
  const isCut = name.length > 5 * mostShown || text.length > mostShown;
  if (!isCut && plain.test(name)) return text;
  const cut = isCut ? safe`${sliceSafe(text, 0, mostShown)}…` : text;
  return safe`${cut} ⟨${name.length} characters, sha256 ${toSafeLine(hash("sha256", name).slice(0, 16))}⟩`;
}

const hints: ReadonlyMap<string, readonly [yes: string, no: string]> = new Map([
  ["readOnlyHint", ["read-only", "not read-only"]],
  ["destructiveHint", ["destructive", "not destructive"]],
  ["idempotentHint", ["idempotent", "not idempotent"]],
  ["openWorldHint", ["open world", "closed world"]],
]);

/** Servers can claim anything in annotations, so the text says that they are not verified. */
function hintWords(annotations: JsonObject): string {
  const texts = Object.entries(annotations).map(([name, value]) => {
    const words = hints.get(name);
    if (words === undefined || typeof value !== "boolean") return `${name} = ${JSON.stringify(value)}`;
    return words[value ? 0 : 1];
  });
  return texts.length === 0 ? "none" : `${texts.join(", ")} (claimed by the server, not verified)`;
}
