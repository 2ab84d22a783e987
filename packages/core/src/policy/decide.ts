/**
 * Decides whether a request runs, from the rules, the approvals and the tool definitions. If the decision is to ask,
 * creates the confirmation and applies the user's answer.
 */

import type { JsonObject } from "@fairlead/wire";
import type { View } from "../server/accepted-views.ts";
import type { CatalogTool } from "../server/catalog.ts";
import type { Connection } from "../server/connection.ts";
import type { Difference } from "../server/tool-changes.ts";
import { fileWords, type Skill } from "../skills/skill.ts";
import { canonicalJson } from "../text/canonical-json.ts";
import type { Flag } from "../text/flags.ts";
import { type ApprovedDefinition, type ApprovedTools, approvedDigest, type ServerIdentity } from "./approvals.ts";
import {
  type AnswerPlace,
  type AskedTool,
  askAbout,
  isYes,
  type ToolCallConfirmationDetails,
  ToolConfirmationOutcome,
} from "./confirmation.ts";
import type { ConversationApprovals } from "./conversation-approvals.ts";
import { PolicyEngine } from "./policy-engine.ts";
import { acrossReason, approverOf, isAcrossRule, isChangedRule } from "./rules/built-in-rules.ts";
import { exactName } from "./rules/name-pattern.ts";
import type { ApprovalMode, CheckRequest, Decision, PolicyRule, RequestingUser, RequestKind } from "./rules/rule.ts";
import { correction, ruleText } from "./rules/rule-text.ts";

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
  readonly toolOf: (tool: ToolOnConnection) => CatalogTool | undefined;
  readonly toolsOf: (server: string) => readonly CatalogTool[];
  readonly changeOf: (tool: ToolOnConnection) => ChangedDefinition | undefined;
  readonly promptChangeOf: (prompt: ToolIdentity) => ChangedDefinition | undefined;
  /** What is suspicious in the definition of what a request is for. */
  readonly flagsOf: (request: ToolOnConnection & Pick<PolicyRequest, "kind">) => readonly Flag[];
  /** The sandbox of the server's program, in words. Undefined if it has none. */
  readonly sandboxOf: (server: string) => string | undefined;
  /** The entry of a skill that the host holds. `serverToolName` is its URI. */
  readonly skillOf: (skill: ToolIdentity) => Skill | undefined;
  /** Whether the server uses the skill's name for another skill, too. */
  readonly sharesName: (skill: ToolIdentity) => boolean;
  readonly skillChangeOf: (skill: ToolIdentity) => ChangedDefinition | undefined;
  /** The names of the tools whose view is the resource. */
  readonly toolsWithView: (resource: ToolOnConnection) => readonly string[];
  /** How the view that was read differs from the accepted one. */
  readonly viewChangeOf: (resource: ReadView) => ChangedDefinition | undefined;
  /** Whether the tool or its server differs from the lock file. An approval for the tool then cannot be saved. */
  readonly isLockedOut: (tool: ToolOnConnection) => boolean;
  /** Whether the skill or its server differs from the lock file. */
  readonly isSkillLockedOut: (skill: ToolIdentity) => boolean;
}

/** A tool as one connection lists it. Without a connection, as the registries show it. */
export type ToolOnConnection = Pick<PolicyRequest, keyof ToolIdentity | "connection">;

/** A resource that was read, and is the view of a tool. */
export type ReadView = ToolOnConnection & Required<Pick<PolicyRequest, "view">>;

/** The sender of a request: the user, a model, a server that requests sampling, or a client of the gateway. */
export type Requester = "user" | "model" | "server" | "client";

/** A request to decide about: a tool call, a prompt, a resource, sampling, a skill or a host. */
export interface PolicyRequest extends ToolIdentity {
  /** The sender of the request. Default: `model`. */
  readonly who?: Requester;
  /** The kind of the request. Default: `tool`. */
  readonly kind?: RequestKind;
  readonly args?: JsonObject;
  /** The name of the gateway's client that sent the request, or that is to answer a sampling request. */
  readonly client?: string | undefined;
  /** Explains the decision for another user than the one for whom the host works. */
  readonly principal?: RequestingUser | undefined;
  /** The view of a tool that a client has read. The request is then about passing it on to the client. */
  readonly view?: View;
  /** The connection that the request uses, if a gateway client has one of its own. */
  readonly connection?: Connection;
  /** The id of a conversation of this client. The approvals of this conversation apply to the request. */
  readonly conversation?: string | undefined;
  /**
   * The servers of the skills that the model acts on. A skill of one server may cause no read from another one, so the
   * user is asked about each such read.
   */
  readonly actingOn?: readonly string[] | undefined;
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
  /** The tool's definition or the skill's entry. Undefined if no catalog contains it. */
  readonly definition: ApprovedDefinition | undefined;
  /** Whether the definition differs from the accepted one. */
  readonly isChanged: boolean;
}

/** A decision with the versions of its inputs. The decision is valid until one of these versions changes. */
export interface CarriedDecision extends Decision {
  readonly inputs: DecisionInputs;
}

/** Everything that decisions depend on, except the request. */
export interface DecisionsOptions {
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
  /** The user for whom the host works. */
  readonly principal?: RequestingUser | undefined;
  readonly identityOf: (server: string) => ServerIdentity | undefined;
  /** Makes the tool's current definition the accepted one. */
  readonly accept: (request: PolicyRequest) => Promise<void>;
  /** Makes the view that was read the accepted view of its tools. */
  readonly acceptView: (resource: ReadView) => Promise<void>;
  readonly mode: ApprovalMode;
  /** Whether the user can be asked. */
  readonly interactive: boolean;
}

/** Functions that receive the user's answer to one confirmation. */
export interface TakingAnswer {
  /** True while the request waits for an answer. After that, an answer has no effect. */
  readonly isOpen: () => boolean;
  /** Called when the user's yes takes effect. `key` is absent if the yes also covers later requests. */
  readonly onYes: (key?: string) => void;
  /** Called when a yes has no effect, because the definition changed while the user read the question. */
  readonly onOutdated?: () => void;
  /** Called with the first answer, which goes into the history. */
  readonly onAnswer?: (how: "yes" | "no" | "typed" | "edited", answeredIn?: AnswerPlace) => void;
}

const { ProceedOnce, ProceedAlwaysTool, ProceedAlwaysServer, ProceedAlwaysAndSave, Cancel } = ToolConfirmationOutcome;

/** Maximum number of decisions that `carry` keeps. */
const mostCarried = 64;

const typedRule: PolicyRule = {
  tier: "default",
  decision: "allow",
  priority: 0,
  origin: { source: "built_in", name: "typed" },
};

/** Decides about the requests of one host, and asks the user for confirmation. No request is confirmed at first. */
export class Decisions {
  readonly #options: DecisionsOptions;
  #engine: { readonly of: readonly PolicyRule[]; readonly engine: PolicyEngine } | undefined;
  /** How many times each confirmed request may still run, by `confirmationKey`. */
  readonly #confirmed = new Map<string, number>();
  readonly #carried = new Map<string, CarriedDecision>();

  constructor(options: DecisionsOptions) {
    this.#options = options;
  }

  /** Decides about a request. Never asks the user. */
  decide(request: PolicyRequest): CarriedDecision {
    const inputs = this.#inputsOf(request);
    return this.#decideBy(this.#engineWith(this.#ownRules(request)), request, inputs, this.#toCheck(request, inputs));
  }

  /** Whether no input of the decision has changed since the decision was made. */
  isCurrent({ inputs }: CarriedDecision, request: PolicyRequest): boolean {
    const now = this.#inputsOf(request);
    return (
      inputs.rules === now.rules &&
      inputs.approvals === now.approvals &&
      inputs.configuration === now.configuration &&
      isSameDefinition(inputs.definition, now.definition) &&
      inputs.isChanged === now.isChanged
    );
  }

  /**
   * Whether the request is denied whatever the server lists, so that the server need not be connected to refuse it. The
   * user's approvals count as if they applied to the tool's present definition.
   */
  isDeniedByName(request: PolicyRequest): boolean {
    const { serverName, serverToolName, kind = "tool", conversation } = request;
    const own = isApprovable(kind)
      ? this.#approvalRules(request, this.#approvalsOf(conversation).has(serverName, serverToolName))
      : this.#ownRules(request);
    return this.#engineWith(own).deniesByName(this.#toCheck(request, { isChanged: false }));
  }

  /**
   * The decision with everything that `fairlead policy explain` shows. `matching` has every rule that matches, strongest
   * first.
   *
   * @param doubt Why Fairlead could not tell whether the definition of a tool has changed that is not listed yet.
   */
  explain(
    request: PolicyRequest,
    doubt?: string,
  ): {
    readonly decision: Decision;
    readonly matching: readonly PolicyRule[];
    readonly change: ChangedDefinition | undefined;
  } {
    const by = this.#engineWith(this.#ownRules(request));
    const inputs = this.#inputsOf(request);
    const check =
      doubt === undefined ? this.#toCheck(request, inputs) : this.#toCheck(request, { isChanged: true }, doubt);
    const { inputs: _, ...decision } = this.#decideBy(by, request, inputs, check);
    const change = doubt === undefined ? this.#changeOf(request) : { difference: () => [], doubt };
    return { decision, matching: by.matching(check), change };
  }

  /** Returns the decision that `carry` keeps for an equal request, if it is still current. Otherwise decides. */
  take(request: PolicyRequest): CarriedDecision {
    if (this.#carried.size === 0) return this.decide(request);
    const key = requestKey(request);
    const decision = this.#carried.get(key);
    this.#carried.delete(key);
    return decision !== undefined && this.isCurrent(decision, request) ? decision : this.decide(request);
  }

  /** Keeps a decision that allows a request, for the next equal request. */
  carry(request: PolicyRequest, decision: CarriedDecision): void {
    if (this.#carried.size >= mostCarried) this.#carried.clear();
    this.#carried.set(requestKey(request), decision);
  }

  /** Uses up one yes that was stored for this request. Returns false if there is none. */
  takeConfirmation(request: PolicyRequest): boolean {
    const key = this.confirmationKey(request);
    const left = (this.#confirmed.get(key) ?? 0) - 1;
    if (left > 0) this.#confirmed.set(key, left);
    else this.#confirmed.delete(key);
    return left >= 0;
  }

  /**
   * The key under which Fairlead stores the user's yes to one request. It depends on the sender, the arguments, the
   * server and the definition, and on how the definition differs from the accepted one.
   */
  confirmationKey(request: PolicyRequest): string {
    const { who = "model", client, serverName, serverToolName, kind = "tool", args = {} } = request;
    const boundTo = isApprovable(kind)
      ? this.approvalKeyOf(request)
      : this.#options.identityOf(serverName)?.fingerprint;
    const shown = this.#changeOf(request)?.difference();
    const sender = client === undefined ? who : [who, client];
    return canonicalJson([sender, kind, serverName, serverToolName, args, boundTo, JSON.stringify({ shown })]);
  }

  /** Makes the tool's current definition the accepted one. */
  async accept(request: PolicyRequest): Promise<void> {
    const accepted = this.#options.accept(request);
    this.#options.approvals.bump();
    await accepted;
  }

  /**
   * Creates the confirmation for a request whose decision is `ask_user`. When the user answers, Fairlead calls the
   * functions of `taking`. Without `taking`, Fairlead stores the user's yes until `takeConfirmation` uses it up.
   */
  question(
    request: PolicyRequest,
    decision: Decision,
    shown: AskedTool,
    taking: TakingAnswer = { isOpen: () => true, onYes: (key) => this.#keep(key) },
  ): ToolCallConfirmationDetails {
    const { kind = "tool", who } = request;
    const change = this.#changeOf(request);
    const approver = approverOf(decision);
    // A yes of another person is for the request that they have seen.
    const outcomes = approver === undefined ? this.#outcomesFor(request) : [ProceedOnce, Cancel];
    const rule = who === "user" && decision.over?.decision === "ask_user" ? decision.over : decision.rule;
    const isOutdated = (): boolean => this.confirmationKey(answered) !== asked;
    const flags = this.#options.tools.flagsOf(request);
    const sandbox = this.#options.tools.sandboxOf(request.serverName);
    const details = askAbout(shown, this.#shownArguments(request), {
      kind: request.kind,
      rule: {
        decision: decision.decision,
        tier: rule.tier,
        text: this.#reasonFor(request, rule),
        approver,
        doubt: change?.doubt,
        correction: correction(rule),
      },
      change: change?.doubt === undefined ? change?.difference() : undefined,
      ...(flags.length > 0 && { flags }),
      ...(sandbox !== undefined && { sandbox }),
      outcomes,
      isOutdated,
      answer: async (given, how) => {
        const answeredIn = how === "typed" || how === "edited" ? undefined : how;
        const yes = how === "typed" ? how : "yes";
        const no = how === "edited" ? how : "no";
        taking.onAnswer?.(isYes(given) ? yes : no, answeredIn);
        if (!isYes(given) || !taking.isOpen()) return;
        // If the definition changed meanwhile, the answer has no effect: the user has not seen the new definition.
        if (isOutdated()) return taking.onOutdated?.();
        await this.#apply(answered, outcomes.includes(given) ? given : ProceedOnce, decision, taking.onYes);
      },
    });
    const answered = kind === "tool" ? { ...request, args: details.args } : request;
    const asked = this.confirmationKey(answered);
    return details;
  }

  /** The rule, and both servers if a skill of another server may have caused the read. */
  #reasonFor(request: PolicyRequest, rule: PolicyRule): string {
    const { actingOn = [] } = this.#toCheck(request, { isChanged: false });
    const text = ruleText(rule);
    return actingOn.length === 0 || isAcrossRule(rule)
      ? text
      : `${text}; ${acrossReason(actingOn, request.serverName)}`;
  }

  /** What the confirmation shows as arguments: for a skill, also its files with sizes and digests. */
  #shownArguments(request: PolicyRequest): JsonObject {
    const { kind = "tool", serverToolName, args = {} } = request;
    if (kind === "resource") return { uri: serverToolName };
    const skill = kind === "skill" ? this.#options.tools.skillOf(request) : undefined;
    if (skill === undefined) return args;
    const files = skill.files?.map((file) => [file.path, fileWords(file)] as const);
    return { ...args, files: files === undefined ? "dynamic" : Object.fromEntries(files) };
  }

  /** The answers that the user can choose. Leaves out "always" if Fairlead would still ask about the next request. */
  #outcomesFor(request: PolicyRequest): readonly ToolConfirmationOutcome[] {
    const { policy, tools, identityOf } = this.#options;
    const { serverName, kind = "tool" } = request;
    const outcomes: ToolConfirmationOutcome[] = [ProceedOnce];
    if (kind === "host") {
      if (
        policy().approved.canSave(serverName) &&
        this.#wouldAllow(request, approvalRule({ ...request, client: undefined }))
      )
        outcomes.push(ProceedAlwaysAndSave);
    } else if (kind === "resource") {
      if (identityOf(serverName) !== undefined && this.#wouldAllow(request, readsRule(serverName)))
        outcomes.push(ProceedAlwaysServer);
    } else if (isApprovable(kind) && this.approvalKeyOf(request) !== undefined) {
      if (this.#wouldAllow(request, conversationRule(request))) {
        outcomes.push(ProceedAlwaysTool);
        // Each skill needs an approval of its own.
        if (kind === "tool") outcomes.push(ProceedAlwaysServer);
      }
      const canSave =
        policy().approved.canSave(serverName) &&
        !(kind === "tool" ? tools.isLockedOut(request) : tools.isSkillLockedOut(request)) &&
        this.#changeOf(request)?.doubt === undefined;
      if (canSave && this.#wouldAllow(request, approvalRule(request))) outcomes.push(ProceedAlwaysAndSave);
    }
    return [...outcomes, Cancel];
  }

  /**
   * Applies the user's yes immediately. If the answer saves an approval, resolves when the approval is on disk.
   */
  async #apply(
    request: PolicyRequest,
    outcome: ToolConfirmationOutcome,
    decision: Decision,
    onYes: TakingAnswer["onYes"],
  ): Promise<void> {
    const { policy, identityOf } = this.#options;
    const { serverName, serverToolName, kind = "tool", client, conversation } = request;
    const given = this.#approvalsOf(conversation);
    if (kind === "host") {
      onYes(this.confirmationKey(request));
      if (outcome === ProceedAlwaysAndSave) await policy().approved.save(serverName, { host: serverToolName });
      return;
    }
    // A prompt may have the same name as a tool, but only tools and skills have accepted definitions.
    if (!isApprovable(kind)) {
      const { view } = request;
      const accepted = view && this.#options.acceptView({ ...request, view });
      if (accepted) this.#options.approvals.bump();
      await accepted;
      const { fingerprint } = identityOf(serverName) ?? {};
      if (outcome !== ProceedAlwaysServer || fingerprint === undefined) return onYes(this.confirmationKey(request));
      given.allowReads(serverName, fingerprint);
      return onYes();
    }
    const approvalKey = this.approvalKeyOf(request);
    const definition = this.#definitionOf(request);
    if (approvalKey === undefined || definition === undefined || outcome === ProceedOnce)
      return this.#applyOnce(request, decision, onYes);
    onYes();
    if (outcome === ProceedAlwaysServer) given.allowServer(serverName, this.#approvalKeysOf(serverName));
    else given.allowTool(serverName, serverToolName, approvalKey);
    await this.accept(request);
    if (outcome === ProceedAlwaysAndSave) await policy().approved.save(serverName, definition, client);
  }

  async #applyOnce(request: PolicyRequest, { rule, over }: Decision, onYes: TakingAnswer["onYes"]): Promise<void> {
    const { serverName, serverToolName } = request;
    const approvalKey = this.approvalKeyOf(request);
    const given = this.#approvalsOf(request.conversation);
    const isChanged = isChangedRule(rule);
    /**
     * A changed definition can be the only reason to ask. If the user then says yes once to a model's call, the
     * definition is not accepted, and Fairlead asks again at the next call.
     */
    const isForThisCallOnly = isChanged && over?.decision === "allow" && request.who !== "user";
    const accepted = isForThisCallOnly ? undefined : this.accept(request);
    if (isChanged) given.notNew(serverName, serverToolName);
    /*
     * "Always" for a server covers the tools that the server had when the user answered. A tool that the server adds
     * later needs one confirmation.
     */
    const isTool = (request.kind ?? "tool") === "tool";
    const isNew = isTool && !isChanged && approvalKey !== undefined && given.isNewOfWhole(serverName, serverToolName);
    if (isNew) given.allowTool(serverName, serverToolName, approvalKey);
    const isCovered = isNew && this.#wouldAllow(request, conversationRule(request));
    /*
     * The key must be read after `accept`: it contains the difference between the tool's definition and the accepted
     * one, and `accept` removes that difference.
     */
    onYes(isCovered ? undefined : this.confirmationKey(request));
    await accepted;
  }

  #keep(key: string | undefined): void {
    if (key !== undefined) this.#confirmed.set(key, (this.#confirmed.get(key) ?? 0) + 1);
  }

  #approvalsOf(conversation: string | undefined): ConversationApprovals {
    return this.#options.approvalsOf?.(conversation) ?? this.#options.approvals;
  }

  /**
   * Identifies an approved tool or skill: the server's fingerprint and the digest of the definition. Undefined if one of
   * them is unknown, and for a skill with dynamic files.
   */
  approvalKeyOf(request: PolicyRequest): string | undefined {
    const identity = this.#options.identityOf(request.serverName);
    const definition = this.#definitionOf(request);
    const digest = definition && approvedDigest(definition);
    return identity && digest && `${identity.fingerprint} ${digest}`;
  }

  /** The tool's definition, or the skill's entry. */
  #definitionOf(request: PolicyRequest): ApprovedDefinition | undefined {
    const { tools } = this.#options;
    const { kind = "tool" } = request;
    if (kind === "skill") return tools.skillOf(request);
    return kind === "tool" ? tools.toolOf(request) : undefined;
  }

  #approvalKeysOf(serverName: string): ReadonlyMap<string, string> {
    return new Map(
      this.#options.tools.toolsOf(serverName).flatMap(({ name }) => {
        const approvalKey = this.approvalKeyOf({ serverName, serverToolName: name });
        return approvalKey === undefined ? [] : [[name, approvalKey] as const];
      }),
    );
  }

  /**
   * Returns an engine with the loaded rules and the rules in `own`, which stand for approvals. Reuses one engine if
   * `own` is empty.
   */
  #engineWith(own: readonly PolicyRule[]): PolicyEngine {
    const { rules } = this.#options.policy();
    if (own.length > 0) return new PolicyEngine({ rules: [...rules, ...own] });
    if (this.#engine?.of !== rules) this.#engine = { of: rules, engine: new PolicyEngine({ rules }) };
    return this.#engine.engine;
  }

  /** The rules for the user's approvals that apply to the request. */
  #ownRules(request: PolicyRequest): readonly PolicyRule[] {
    const { identityOf } = this.#options;
    const { serverName, serverToolName, kind = "tool", conversation } = request;
    const given = this.#approvalsOf(conversation);
    if (kind === "resource") {
      const fingerprint = identityOf(serverName)?.fingerprint ?? "";
      const rules = given.allowsReads(serverName, fingerprint) ? [readsRule(serverName)] : [];
      return this.#viewDecisions(request).length > 0 ? [...rules, viewRule(serverName)] : rules;
    }
    if (kind === "host") return this.#approvalRules(request, false);
    const definition = this.#definitionOf(request);
    if (definition === undefined) return [];
    const approvalKey = given.has(serverName, serverToolName) ? this.approvalKeyOf(request) : undefined;
    const isAllowed = approvalKey !== undefined && given.allows(serverName, serverToolName, approvalKey);
    return this.#approvalRules(request, isAllowed, definition);
  }

  /**
   * The decisions about the tools whose view a client reads. The view of a tool is part of the tool: the client may read
   * it if it may be offered one of these tools.
   */
  #viewDecisions(request: PolicyRequest): readonly Decision[] {
    const { who, client, connection, conversation, serverName, serverToolName, kind } = request;
    if (who !== "client" || kind !== "resource") return [];
    return this.#options.tools
      .toolsWithView({ serverName, serverToolName, connection })
      .map((tool) => this.decide({ who, client, connection, conversation, serverName, serverToolName: tool }));
  }

  /**
   * @param isAllowed Whether the conversation's approvals allow the tool.
   * @param definition The definition that a saved approval must be for. Default: any.
   */
  #approvalRules(request: PolicyRequest, isAllowed: boolean, definition?: ApprovedDefinition): readonly PolicyRule[] {
    const { serverName, serverToolName, kind, client } = request;
    const { approved } = this.#options.policy();
    const rules: PolicyRule[] = [];
    for (const by of client === undefined ? [undefined] : [undefined, client]) {
      const approval = approved.find(
        serverName,
        serverToolName,
        by,
        kind === "skill" || kind === "host" ? kind : undefined,
      );
      if (approval && (definition === undefined || approval.digest === approvedDigest(definition)))
        rules.push(approvalRule({ serverName, serverToolName, kind, client: by }));
    }
    if (isAllowed) rules.push(conversationRule(request));
    return rules;
  }

  /**
   * Whether the request would run without confirmation if this rule were added and the user had accepted the
   * definition.
   */
  #wouldAllow(request: PolicyRequest, rule: PolicyRule): boolean {
    return this.#engineWith([...this.#ownRules(request), rule]).allows(this.#toCheck(request, { isChanged: false }));
  }

  #changeOf(request: PolicyRequest): ChangedDefinition | undefined {
    const { kind = "tool" } = request;
    if (kind === "prompt") return this.#options.tools.promptChangeOf(request);
    if (kind === "skill") return this.#options.tools.skillChangeOf(request);
    const { view } = request;
    if (kind === "resource") return view && this.#options.tools.viewChangeOf({ ...request, view });
    return kind === "tool" ? this.#options.tools.changeOf(request) : undefined;
  }

  /**
   * Prepares a request for the rules. The approval mode and a missing terminal are ignored for a request that the user
   * typed.
   */
  #toCheck(
    request: PolicyRequest,
    { isChanged }: Pick<DecisionInputs, "isChanged">,
    doubt: string | undefined = isChanged ? this.#changeOf(request)?.doubt : undefined,
  ): CheckRequest {
    const { serverName, serverToolName, kind = "tool", args, who, client, actingOn } = request;
    const { tools, trustsAnnotations, mode, interactive, principal } = this.#options;
    const isTyped = who === "user";
    const skill = kind === "skill" ? tools.skillOf(request) : undefined;
    const isRead = kind === "resource" || kind === "skill";
    return {
      server: serverName,
      tool: serverToolName,
      label: skill?.name,
      isLabelShared: skill !== undefined && tools.sharesName(request),
      isUnbound: skill !== undefined && skill.digest === undefined,
      actingOn: isRead ? actingOn?.filter((server) => server !== serverName) : undefined,
      kind,
      client,
      principal: request.principal ?? principal,
      args,
      annotations: kind === "tool" ? tools.toolOf(request)?.annotations : undefined,
      trustsAnnotations: trustsAnnotations(serverName),
      isChanged,
      doubt,
      mode: isTyped ? "default" : mode,
      interactive: isTyped || interactive,
    };
  }

  #inputsOf(request: PolicyRequest): DecisionInputs {
    const { policy, approvals, configurationVersion } = this.#options;
    const given = this.#approvalsOf(request.conversation);
    return {
      rules: policy().version,
      // Both versions only increase, so their sum changes whenever one of them changes.
      approvals: given === approvals ? approvals.version() : approvals.version() + given.version(),
      configuration: configurationVersion(),
      definition: this.#definitionOf(request),
      isChanged: this.#changeOf(request) !== undefined,
    };
  }

  #decideBy(by: PolicyEngine, request: PolicyRequest, inputs: DecisionInputs, check: CheckRequest): CarriedDecision {
    const tools = this.#viewDecisions(request);
    const [first] = tools;
    const isDenied = first !== undefined && tools.every((tool) => tool.decision === "deny");
    const found = isDenied ? first : by.check(check);
    const { decision, rule, over } = request.who === "user" ? forTyped(found) : found;
    return { decision, rule, over, inputs };
  }
}

/** The rule for the view of a tool that the client may be offered. */
function viewRule(server: string): PolicyRule {
  return {
    tier: "default",
    decision: "allow",
    priority: 0,
    server: exactName(server),
    kind: "resource",
    origin: { source: "built_in", name: "view" },
  };
}

/** Two requests have the same key if sender, conversation, tool (or prompt or resource) and arguments are equal. */
function requestKey(request: PolicyRequest): string {
  const { who, client, conversation, kind = "tool", serverName, serverToolName, args = {} } = request;
  return canonicalJson([who, client, conversation, kind, serverName, serverToolName, args]);
}

function isSameDefinition(one: DecisionInputs["definition"], other: DecisionInputs["definition"]): boolean {
  if (one === other) return true;
  const digest = one && approvedDigest(one);
  return digest !== undefined && other !== undefined && digest === approvedDigest(other);
}

/** Whether an approval of a request of this kind is bound to a definition. */
function isApprovable(kind: RequestKind): boolean {
  return kind === "tool" || kind === "skill";
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
export function approvalRule({
  client,
  ...request
}: Pick<PolicyRequest, keyof ToolIdentity | "kind" | "client">): PolicyRule {
  return {
    ...pairRule(request),
    tier: "user",
    client: client === undefined ? undefined : exactName(client),
    origin: { source: "approval" },
  };
}

/** The rule for an approval that is valid in this conversation only. */
function conversationRule(request: Pick<PolicyRequest, keyof ToolIdentity | "kind">): PolicyRule {
  return { ...pairRule(request), tier: "conversation", origin: { source: "answer" } };
}

function pairRule({
  serverName,
  serverToolName,
  kind,
}: Pick<PolicyRequest, keyof ToolIdentity | "kind">): Pick<
  PolicyRule,
  "decision" | "priority" | "server" | "tool" | "kind"
> {
  return { decision: "allow", priority: 0, server: exactName(serverName), tool: exactName(serverToolName), kind };
}

/** The rule for an approval that lets models read the server's resources in this conversation. */
function readsRule(server: string): PolicyRule {
  return {
    tier: "conversation",
    decision: "allow",
    priority: 0,
    server: exactName(server),
    kind: "resource",
    origin: { source: "answer" },
  };
}
