/** Asks the user about requests whose decision is `ask_user`, and applies the answers. */

import type { JsonObject } from "@fairlead/wire";
import {
  type AnswerPlace,
  type AskedTool,
  askAbout,
  isYes,
  type ToolCallConfirmationDetails,
  ToolConfirmationOutcome,
} from "../registry/confirmation.ts";
import { canonicalJson } from "../text/canonical-json.ts";
import {
  approvalRule,
  type CarriedDecision,
  type ChangedDefinition,
  type CreateDecideOptions,
  conversationRule,
  createDecide,
  type Decide,
  identityKey,
  type PolicyRequest,
  readsRule,
  type ToolIdentity,
} from "./decide.ts";
import { isChangedRule } from "./rules/built-in-rules.ts";
import type { Decision } from "./rules/rule.ts";
import { ruleText } from "./rules/rule-text.ts";

export type { CarriedDecision, PolicyRequest, Requester, ToolIdentity } from "./decide.ts";

/** The options of `createDecide`, and a function that accepts a definition. */
export interface ConfirmationsOptions extends CreateDecideOptions {
  /** Makes the tool's current definition the accepted one. */
  readonly accept: (tool: ToolIdentity) => Promise<void>;
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

/** Decides about the requests of one host, and asks the user for confirmation. */
export interface Confirmations extends Pick<Decide, "decide" | "isCurrent" | "explain" | "isDeniedByName"> {
  /**
   * Creates the confirmation for a request whose decision is `ask_user`. When the user answers, Fairlead calls the
   * functions of `taking`. Without `taking`, Fairlead stores the user's yes until `takeConfirmation` uses it up.
   */
  readonly question: (
    request: PolicyRequest,
    decision: Decision,
    shown: AskedTool,
    taking?: TakingAnswer,
  ) => ToolCallConfirmationDetails;
  /**
   * The key under which Fairlead stores the user's yes to one request. It depends on the sender, the arguments, the
   * server and the definition, and on how the definition differs from the accepted one.
   */
  readonly confirmationKey: (request: PolicyRequest) => string;
  /** Returns the decision that `carry` keeps for an equal request, if it is still current. Otherwise decides. */
  readonly take: (request: PolicyRequest) => CarriedDecision;
  /** Keeps a decision that allows a request, for the next equal request. */
  readonly carry: (request: PolicyRequest, decision: CarriedDecision) => void;
  /** Uses up one yes that was stored for this request. Returns false if there is none. */
  readonly takeConfirmation: (request: PolicyRequest) => boolean;
  /** Makes the tool's current definition the accepted one. */
  readonly accept: (tool: ToolIdentity) => Promise<void>;
}

const { ProceedOnce, ProceedAlwaysTool, ProceedAlwaysServer, ProceedAlwaysAndSave, Cancel } = ToolConfirmationOutcome;

/** Maximum number of decisions that `carry` keeps. */
const mostCarried = 64;

/** Creates the confirmations of one host. No request is confirmed at first. */
export function createConfirmations({ accept: acceptDefinition, ...options }: ConfirmationsOptions): Confirmations {
  const { policy, tools, identityOf, approvals, approvalsOf = () => approvals } = options;
  const rules = createDecide(options);
  /** How many times each confirmed request may still run, by `confirmationKey`. */
  const confirmed = new Map<string, number>();
  const carried = new Map<string, CarriedDecision>();
  const keptForLater: TakingAnswer = { isOpen: () => true, onYes: (key) => void (key !== undefined && keep(key)) };

  async function accept(tool: ToolIdentity): Promise<void> {
    const accepted = acceptDefinition(tool);
    approvals.bump();
    await accepted;
  }

  function changeOf(request: PolicyRequest): ChangedDefinition | undefined {
    if ((request.kind ?? "tool") === "tool") return tools.changeOf(request);
    return request.kind === "prompt" ? tools.promptChangeOf(request) : undefined;
  }

  function identityKeyOf(serverName: string): string | undefined {
    const identity = identityOf(serverName);
    return identity && identityKey(identity);
  }

  function keyOf(request: PolicyRequest): string {
    const { who = "model", client, serverName, serverToolName, kind = "tool", args = {} } = request;
    const boundTo = kind === "tool" ? rules.approvalKeyOf(request) : identityKeyOf(serverName);
    const shown = changeOf(request)?.difference();
    const sender = client === undefined ? who : [who, client];
    return canonicalJson([sender, kind, serverName, serverToolName, args, boundTo, JSON.stringify({ shown })]);
  }

  function keep(key: string): void {
    confirmed.set(key, (confirmed.get(key) ?? 0) + 1);
  }

  /** The answers that the user can choose. Leaves out "always" if Fairlead would still ask about the next request. */
  function outcomesFor(request: PolicyRequest): readonly ToolConfirmationOutcome[] {
    const { serverName, kind = "tool" } = request;
    if (kind === "resource") {
      const always = identityOf(serverName) !== undefined && rules.wouldAllow(request, readsRule(serverName));
      return [ProceedOnce, ...(always ? [ProceedAlwaysServer] : []), Cancel];
    }
    if (kind !== "tool" || rules.approvalKeyOf(request) === undefined) return [ProceedOnce, Cancel];
    const always = rules.wouldAllow(request, conversationRule(request));
    const saves =
      policy().approved.canSave(serverName) &&
      !tools.isLockedOut(request) &&
      tools.changeOf(request)?.doubt === undefined &&
      rules.wouldAllow(request, approvalRule(request));
    return [
      ProceedOnce,
      ...(always ? [ProceedAlwaysTool, ProceedAlwaysServer] : []),
      ...(saves ? [ProceedAlwaysAndSave] : []),
      Cancel,
    ];
  }

  async function takeOnce(
    request: PolicyRequest,
    { rule, over }: Decision,
    onYes: TakingAnswer["onYes"],
  ): Promise<void> {
    const { serverName, serverToolName } = request;
    const approvalKey = rules.approvalKeyOf(request);
    const given = approvalsOf(request.conversation);
    const isChanged = isChangedRule(rule);
    /**
     * A changed definition can be the only reason to ask. If the user then says yes once to a model's call, the
     * definition is not accepted, and Fairlead asks again at the next call.
     */
    const isForThisCallOnly = isChanged && over?.decision === "allow" && request.who !== "user";
    const accepted = isForThisCallOnly ? undefined : accept(request);
    if (isChanged) given.notNew(serverName, serverToolName);
    /*
     * "Always" for a server covers the tools that the server had when the user answered. A tool that the server adds
     * later needs one confirmation.
     */
    const isNew = !isChanged && approvalKey !== undefined && given.isNewOfWhole(serverName, serverToolName);
    if (isNew) given.allowTool(serverName, serverToolName, approvalKey);
    const isCovered = isNew && rules.wouldAllow(request, conversationRule(request));
    /*
     * `keyOf` must run after `accept`: the key contains the difference between the tool's definition and the accepted
     * one, and `accept` removes that difference.
     */
    onYes(isCovered ? undefined : keyOf(request));
    await accepted;
  }

  /**
   * Applies the user's answer about a tool immediately. If the answer saves an approval, resolves when the approval is
   * on disk.
   */
  async function takeForTool(
    request: PolicyRequest,
    outcome: ToolConfirmationOutcome,
    decision: Decision,
    onYes: TakingAnswer["onYes"],
  ): Promise<void> {
    const { serverName, serverToolName } = request;
    const approvalKey = rules.approvalKeyOf(request);
    const definition = tools.toolOf(request);
    const given = approvalsOf(request.conversation);
    if (approvalKey === undefined || definition === undefined) return takeOnce(request, decision, onYes);
    if (outcome !== ProceedOnce) onYes();
    switch (outcome) {
      case ProceedAlwaysServer:
        given.allowServer(serverName, approvalKeysOf(serverName));
        return accept(request);
      case ProceedAlwaysTool:
        given.allowTool(serverName, serverToolName, approvalKey);
        return accept(request);
      case ProceedAlwaysAndSave:
        given.allowTool(serverName, serverToolName, approvalKey);
        await accept(request);
        return policy().approved.save(serverName, definition, request.client);
      case ProceedOnce:
        return takeOnce(request, decision, onYes);
      case Cancel:
    }
  }

  async function take(
    request: PolicyRequest,
    outcome: ToolConfirmationOutcome,
    decision: Decision,
    onYes: TakingAnswer["onYes"],
  ): Promise<void> {
    // A prompt may have the same name as a tool, but only tools have accepted definitions.
    if ((request.kind ?? "tool") === "tool") return takeForTool(request, outcome, decision, onYes);
    const boundTo = identityKeyOf(request.serverName);
    if (outcome !== ProceedAlwaysServer || boundTo === undefined) return onYes(keyOf(request));
    approvalsOf(request.conversation).allowReads(request.serverName, boundTo);
    onYes();
  }

  function approvalKeysOf(serverName: string): ReadonlyMap<string, string> {
    return new Map(
      tools.toolsOf(serverName).flatMap(({ name }) => {
        const approvalKey = rules.approvalKeyOf({ serverName, serverToolName: name });
        return approvalKey === undefined ? [] : [[name, approvalKey] as const];
      }),
    );
  }

  return {
    take(request) {
      if (carried.size === 0) return rules.decide(request);
      const key = requestKey(request);
      const decision = carried.get(key);
      carried.delete(key);
      return decision !== undefined && rules.isCurrent(decision, request) ? decision : rules.decide(request);
    },
    carry(request, decision) {
      if (carried.size >= mostCarried) carried.clear();
      carried.set(requestKey(request), decision);
    },
    decide: rules.decide,
    isCurrent: rules.isCurrent,
    isDeniedByName: rules.isDeniedByName,
    explain: rules.explain,
    accept,
    confirmationKey: keyOf,

    takeConfirmation(request) {
      const key = keyOf(request);
      const left = (confirmed.get(key) ?? 0) - 1;
      if (left > 0) confirmed.set(key, left);
      else confirmed.delete(key);
      return left >= 0;
    },

    question(request, decision, shown, taking = keptForLater) {
      const isTool = (request.kind ?? "tool") === "tool";
      const change = changeOf(request);
      const outcomes = outcomesFor(request);
      const args: JsonObject = request.kind === "resource" ? { uri: request.serverToolName } : (request.args ?? {});
      const rule = request.who === "user" && decision.over?.decision === "ask_user" ? decision.over : decision.rule;
      const details = askAbout(shown, args, {
        kind: request.kind,
        rule: {
          decision: decision.decision,
          tier: rule.tier,
          text: ruleText(rule),
          ...(change?.doubt !== undefined && { doubt: change.doubt }),
        },
        ...(change && change.doubt === undefined && { change: change.difference() }),
        outcomes,
        isOutdated: () => keyOf(answered) !== asked,
        async answer(given, how) {
          const answeredIn = how === "typed" || how === "edited" ? undefined : how;
          const yes = how === "typed" ? how : "yes";
          const no = how === "edited" ? how : "no";
          taking.onAnswer?.(isYes(given) ? yes : no, answeredIn);
          if (!isYes(given) || !taking.isOpen()) return;
          /*
           * If the definition changed while the user read the question, the answer has no effect, because the user has
           * not seen the new definition.
           */
          if (keyOf(answered) !== asked) return taking.onOutdated?.();
          await take(answered, outcomes.includes(given) ? given : ProceedOnce, decision, taking.onYes);
        },
      });
      const answered = isTool ? { ...request, args: details.args } : request;
      const asked = keyOf(answered);
      return details;
    },
  };
}

/** Two requests have the same key if sender, conversation, tool (or prompt or resource) and arguments are equal. */
function requestKey(request: PolicyRequest): string {
  const { who, client, conversation, kind = "tool", serverName, serverToolName, args = {} } = request;
  return canonicalJson([who, client, conversation, kind, serverName, serverToolName, args]);
}
