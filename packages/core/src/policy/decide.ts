/** Decides whether a request runs, from the rules, the approvals and the tool definitions. */

import type { JsonObject } from "@fairlead/wire";
import type { CatalogTool } from "../server/catalog.ts";
import { type Difference, definitionDigest } from "../server/tool-changes.ts";
import type { ApprovedTools, ServerIdentity } from "./approvals.ts";
import type { ConversationApprovals } from "./conversation-approvals.ts";
import { PolicyEngine } from "./policy-engine.ts";
import { isChangedRule } from "./rules/built-in-rules.ts";
import { exactName } from "./rules/name-pattern.ts";
import type { ApprovalMode, CheckRequest, Decision, PolicyRule, RequestKind } from "./rules/rule.ts";

/** The identity of a tool: the name of its server, and the name that the server gives the tool. */
export interface ToolIdentity {
  readonly serverName: string;
  readonly serverToolName: string;
}

/** A definition that differs from the accepted one. */
export interface ChangedDefinition {
  readonly difference: () => readonly Difference[];
  /** Why Fairlead cannot tell whether the definition differs. Absent if the definition certainly differs. */
  readonly doubt?: string;
}

/** Finds tool definitions, and says which of them have changed. */
export interface ToolDefinitions {
  readonly toolOf: (tool: ToolIdentity) => CatalogTool | undefined;
  readonly toolsOf: (server: string) => readonly CatalogTool[];
  readonly changeOf: (tool: ToolIdentity) => ChangedDefinition | undefined;
  readonly promptChangeOf: (prompt: ToolIdentity) => ChangedDefinition | undefined;
  /** Whether the tool or its server differs from the lock file. An approval for the tool then cannot be saved. */
  readonly isLockedOut: (tool: ToolIdentity) => boolean;
}

/** The sender of a request: the user, a model, a server that requests sampling, or a client of the gateway. */
export type Requester = "user" | "model" | "server" | "client";

/** A request to decide about: a tool call, a prompt, a resource or sampling. */
export interface PolicyRequest extends ToolIdentity {
  /** The sender of the request. Default: `model`. */
  readonly who?: Requester;
  /** The kind of the request. Default: `tool`. */
  readonly kind?: RequestKind;
  readonly args?: JsonObject;
  /** The name of the gateway's client that sent the request, or that is to answer a sampling request. */
  readonly client?: string | undefined;
  /** The id of a conversation of this client. The approvals of this conversation apply to the request. */
  readonly conversation?: string | undefined;
}

/** The rules and the saved approvals that Fairlead has read. */
export interface Policy {
  /** A number that increases each time Fairlead reads the files with the rules and approvals. */
  readonly version: number;
  readonly rules: readonly PolicyRule[];
  readonly approved: ApprovedTools;
}

/** Versions of everything that a decision depends on, except the request itself. */
export interface DecisionInputs {
  readonly rules: number;
  readonly approvals: number;
  readonly configuration: number;
  /** The tool's definition. Undefined if no catalog contains the tool. */
  readonly definition: CatalogTool | undefined;
  /** Whether the tool's definition differs from the accepted one. */
  readonly isChanged: boolean;
}

/** A decision with the versions of its inputs. The decision is valid until one of these versions changes. */
export interface CarriedDecision extends Decision {
  readonly inputs: DecisionInputs;
}

/** Everything that decisions depend on, except the request. */
export interface CreateDecideOptions {
  readonly policy: () => Policy;
  /**
   * Returns a number that increases with every change of the configuration, such as trust, server definitions or
   * limits.
   */
  readonly configurationVersion: () => number;
  readonly approvals: ConversationApprovals;
  /** Returns the approvals of one conversation. Default: `approvals` for every conversation. */
  readonly approvalsOf?: (conversation: string | undefined) => ConversationApprovals;
  readonly tools: ToolDefinitions;
  readonly trustsAnnotations: (server: string) => boolean;
  readonly identityOf: (server: string) => ServerIdentity | undefined;
  readonly mode: ApprovalMode;
  /** Whether the user can be asked. */
  readonly interactive: boolean;
}

/** A decision with everything that `fairlead policy explain` shows. */
export interface ExplainedDecision {
  readonly decision: Decision;
  /** Every rule that matches, strongest first. */
  readonly matching: readonly PolicyRule[];
  readonly change: ChangedDefinition | undefined;
}

/** Decides about requests, and explains the decisions. Never asks the user. */
export interface Decide {
  readonly decide: (request: PolicyRequest) => CarriedDecision;
  /** Whether no input of the decision has changed since the decision was made. */
  readonly isCurrent: (decision: CarriedDecision, request: PolicyRequest) => boolean;
  /**
   * Whether the request is denied whatever the server lists, so that the server need not be connected to refuse it. The
   * user's approvals count as if they applied to the tool's present definition.
   */
  readonly isDeniedByName: (request: PolicyRequest) => boolean;
  /**
   * @param doubt Why Fairlead could not tell whether the definition of a tool has changed that is not listed yet.
   */
  readonly explain: (request: PolicyRequest, doubt?: string) => ExplainedDecision;
  /**
   * Whether the request would run without confirmation if this rule were added and the user had accepted the
   * definition.
   */
  readonly wouldAllow: (request: PolicyRequest, rule: PolicyRule) => boolean;
  /**
   * Identifies an approved tool: the server's fingerprint and folder, and the digest of the tool's definition. Undefined if one of
   * them is unknown.
   */
  readonly approvalKeyOf: (tool: ToolIdentity) => string | undefined;
}

const noRules: readonly PolicyRule[] = [];

const typedRule: PolicyRule = {
  tier: "default",
  decision: "allow",
  priority: 0,
  origin: { source: "built_in", name: "typed" },
};

/** Creates the `Decide` of one host. */
export function createDecide(options: CreateDecideOptions): Decide {
  const { policy, configurationVersion, approvals, tools, trustsAnnotations, identityOf, mode, interactive } = options;
  const { approvalsOf = () => approvals } = options;
  let engine: { readonly of: readonly PolicyRule[]; readonly engine: PolicyEngine } | undefined;

  /**
   * Returns an engine with the loaded rules and the rules in `own`, which stand for approvals. Reuses one engine if
   * `own` is empty.
   */
  function engineWith(own: readonly PolicyRule[]): PolicyEngine {
    const { rules } = policy();
    if (own.length > 0) return new PolicyEngine({ rules: [...rules, ...own] });
    if (engine?.of !== rules) engine = { of: rules, engine: new PolicyEngine({ rules }) };
    return engine.engine;
  }

  function approvalKeyOf(tool: ToolIdentity): string | undefined {
    const identity = identityOf(tool.serverName);
    const definition = tools.toolOf(tool);
    return identity && definition && `${identityKey(identity)} ${definitionDigest(definition)}`;
  }

  function identityKeyOf(server: string): string {
    const identity = identityOf(server);
    return identity === undefined ? "" : identityKey(identity);
  }

  function ownRules(request: PolicyRequest): readonly PolicyRule[] {
    const { serverName, serverToolName, kind = "tool", conversation, client } = request;
    const given = approvalsOf(conversation);
    if (kind === "resource")
      return given.allowsReads(serverName, identityKeyOf(serverName)) ? [readsRule(serverName)] : [];
    const definition = kind === "tool" ? tools.toolOf(request) : undefined;
    if (definition === undefined) return noRules;
    const { approved } = policy();
    const isApproved = (by?: string): boolean => {
      const approval = approved.find(serverName, serverToolName, by);
      return approval !== undefined && approval.digest === definitionDigest(definition);
    };
    const approvalKey = given.has(serverName, serverToolName) ? approvalKeyOf(request) : undefined;
    const isForAll = isApproved();
    const isForClient = client !== undefined && isApproved(client);
    const isAllowed = approvalKey !== undefined && given.allows(serverName, serverToolName, approvalKey);
    if (!isForAll && !isForClient && !isAllowed) return noRules;
    return [
      ...(isForAll ? [approvalRule({ serverName, serverToolName })] : []),
      ...(isForClient ? [approvalRule(request)] : []),
      ...(isAllowed ? [conversationRule(request)] : []),
    ];
  }

  /** The rules for approvals of the tool, whatever its definition was when the user gave them. */
  function possibleRules(request: PolicyRequest): readonly PolicyRule[] {
    const { serverName, serverToolName, kind = "tool", conversation, client } = request;
    if (kind !== "tool") return ownRules(request);
    const { approved } = policy();
    const isApproved = (by?: string): boolean => approved.find(serverName, serverToolName, by) !== undefined;
    return [
      ...(isApproved() ? [approvalRule({ serverName, serverToolName })] : []),
      ...(client !== undefined && isApproved(client) ? [approvalRule(request)] : []),
      ...(approvalsOf(conversation).has(serverName, serverToolName) ? [conversationRule(request)] : []),
    ];
  }

  function changeOf(request: PolicyRequest): ChangedDefinition | undefined {
    if (request.kind === "prompt") return tools.promptChangeOf(request);
    return (request.kind ?? "tool") === "tool" ? tools.changeOf(request) : undefined;
  }

  /**
   * Prepares a request for the rules. The approval mode and a missing terminal are ignored for a request that the user
   * typed.
   */
  function toCheck(
    request: PolicyRequest,
    { isChanged }: Pick<DecisionInputs, "isChanged">,
    doubt = isChanged ? changeOf(request)?.doubt : undefined,
  ): CheckRequest {
    const { serverName, serverToolName, kind = "tool", args, who, client } = request;
    const annotations = kind === "tool" ? tools.toolOf(request)?.annotations : undefined;
    const isTyped = who === "user";
    return {
      server: serverName,
      tool: serverToolName,
      kind,
      client,
      args,
      annotations,
      trustsAnnotations: trustsAnnotations(serverName),
      isChanged,
      doubt,
      mode: isTyped ? "default" : mode,
      interactive: isTyped || interactive,
    };
  }

  function inputsOf(request: PolicyRequest): DecisionInputs {
    const tool = (request.kind ?? "tool") === "tool" ? tools.toolOf(request) : undefined;
    const given = approvalsOf(request.conversation);
    return {
      rules: policy().version,
      /** Both versions only increase, so their sum changes whenever one of them changes. */
      approvals: given === approvals ? approvals.version() : approvals.version() + given.version(),
      configuration: configurationVersion(),
      definition: tool,
      isChanged: changeOf(request) !== undefined,
    };
  }

  function decideBy(
    by: PolicyEngine,
    request: PolicyRequest,
    inputs: DecisionInputs,
    check = toCheck(request, inputs),
  ): CarriedDecision {
    const found = by.check(check);
    const { decision, rule, over } = request.who === "user" ? forTyped(found) : found;
    return over === undefined ? { decision, rule, inputs } : { decision, rule, over, inputs };
  }

  return {
    decide: (request) => decideBy(engineWith(ownRules(request)), request, inputsOf(request)),
    isCurrent({ inputs }, request) {
      const now = inputsOf(request);
      return (
        inputs.rules === now.rules &&
        inputs.approvals === now.approvals &&
        inputs.configuration === now.configuration &&
        isSameDefinition(inputs.definition, now.definition) &&
        inputs.isChanged === now.isChanged
      );
    },
    isDeniedByName: (request) =>
      engineWith(possibleRules(request)).deniesByName(toCheck(request, { isChanged: false })),
    explain(request, doubt) {
      const by = engineWith(ownRules(request));
      const inputs = inputsOf(request);
      const check = doubt === undefined ? toCheck(request, inputs) : toCheck(request, { isChanged: true }, doubt);
      const { inputs: _, ...decision } = decideBy(by, request, inputs, check);
      const change = doubt === undefined ? changeOf(request) : { difference: () => [], doubt };
      return { decision, matching: by.matching(check), change };
    },
    wouldAllow: (request, rule) =>
      engineWith([...ownRules(request), rule]).allows(toCheck(request, { isChanged: false })),
    approvalKeyOf,
  };
}

/** The fingerprint, and the folder if there is one. Approvals of a conversation and single answers are bound to both. */
export function identityKey({ fingerprint, workspace }: Pick<ServerIdentity, "fingerprint" | "workspace">): string {
  return workspace === undefined ? fingerprint : `${fingerprint} ${workspace}`;
}

function isSameDefinition(one: CatalogTool | undefined, other: CatalogTool | undefined): boolean {
  return (
    one === other || (one !== undefined && other !== undefined && definitionDigest(one) === definitionDigest(other))
  );
}

/**
 * Changes "ask" to "allow" for a request that the user typed. Keeps "ask" if a rule of the user or administrator asks,
 * if a rule for an unreadable file asks, or if the definition has changed.
 */
function forTyped(found: Decision): Decision {
  const { rule, decision } = found;
  const isOwn = rule.tier === "administrator" || rule.tier === "user" || rule.isDoubt === true;
  if (decision !== "ask_user" || isOwn || isChangedRule(rule)) return found;
  return { decision: "allow", rule: typedRule, over: rule };
}

/**
 * The rule for a saved approval. It applies in all conversations, but a stricter rule of the user overrules it. With
 * `client`, it applies to the requests of this gateway client only.
 */
export function approvalRule({ client, ...tool }: Pick<PolicyRequest, keyof ToolIdentity | "client">): PolicyRule {
  return {
    ...pairRule(tool),
    tier: "user",
    ...(client !== undefined && { client: exactName(client) }),
    origin: { source: "approval" },
  };
}

/** The rule for an approval that is valid in this conversation only. */
export function conversationRule(tool: ToolIdentity): PolicyRule {
  return { ...pairRule(tool), tier: "conversation", origin: { source: "answer" } };
}

function pairRule({
  serverName,
  serverToolName,
}: ToolIdentity): Pick<PolicyRule, "decision" | "priority" | "server" | "tool"> {
  return { decision: "allow", priority: 0, server: exactName(serverName), tool: exactName(serverToolName) };
}

/** The rule for an approval that lets models read the server's resources in this conversation. */
export function readsRule(server: string): PolicyRule {
  return {
    tier: "conversation",
    decision: "allow",
    priority: 0,
    server: exactName(server),
    kind: "resource",
    origin: { source: "answer" },
  };
}
