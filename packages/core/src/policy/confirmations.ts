/** Confirmations: asks the user about requests whose decision is to ask, and applies the approvals. */

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
  answerRule,
  type ChangedDefinition,
  type CreateDecideOptions,
  createDecide,
  type Decide,
  type PolicyRequest,
  readsRule,
  savedRule,
  type ToolIdentity,
} from "./decide.ts";
import { isChangedRule } from "./rules/built-in-rules.ts";
import type { Decision } from "./rules/rule.ts";
import { ruleText } from "./rules/rule-text.ts";

export type { CarriedDecision, PolicyRequest, Requester, ToolIdentity } from "./decide.ts";

export interface ConfirmationsOptions extends CreateDecideOptions {
  /** Makes the tool's current definition the accepted one. */
  readonly accept: (tool: ToolIdentity) => Promise<void>;
}

export interface TakingAnswer {
  /** Whether the request still waits for its answer; a later answer has no effect. */
  readonly isOpen: () => boolean;
  /** Called when a yes takes effect. `key` is the key of a yes for one request; absent if an approval covers it. */
  readonly onYes: (key?: string) => void;
  /** The first answer, for the history. */
  readonly onAnswer?: (how: "yes" | "no" | "typed", place?: AnswerPlace) => void;
}

/** Decisions and confirmations of one host. */
export interface Confirmations extends Pick<Decide, "decide" | "isCurrent" | "explain"> {
  /**
   * Creates the confirmation for a request whose decision is `ask_user`. The answer takes effect through its
   * `onConfirm`. `taking` decides how an approval is used; by default, an approval for one request is kept for
   * `takeConfirmation`.
   */
  readonly question: (
    request: PolicyRequest,
    decision: Decision,
    shown: AskedTool,
    taking?: TakingAnswer,
  ) => ToolCallConfirmationDetails;
  /**
   * The key of an approval for one request: requester, arguments, server, definition and the difference that was shown.
   */
  readonly confirmationKey: (request: PolicyRequest) => string;
  /** Uses up one kept approval for this request; false if there is none. */
  readonly takeConfirmation: (request: PolicyRequest) => boolean;
  /** Makes the tool's current definition the accepted one. */
  readonly accept: (tool: ToolIdentity) => Promise<void>;
}

const { ProceedOnce, ProceedAlwaysTool, ProceedAlwaysServer, ProceedAlwaysAndSave, Cancel } = ToolConfirmationOutcome;

export function createConfirmations({ accept: acceptDefinition, ...options }: ConfirmationsOptions): Confirmations {
  const { policy, tools, identityOf, approvals, approvalsOf = () => approvals } = options;
  const rules = createDecide(options);
  /** How many times each confirmed request may still run. */
  const confirmed = new Map<string, number>();
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

  function keyOf(request: PolicyRequest): string {
    const { who = "model", client, serverName, serverToolName, kind = "tool", args = {} } = request;
    const boundTo = kind === "tool" ? rules.approvalKeyOf(request) : identityOf(serverName)?.fingerprint;
    const shown = changeOf(request)?.difference();
    const sender = client === undefined ? who : [who, client];
    return canonicalJson([sender, kind, serverName, serverToolName, args, boundTo, JSON.stringify({ shown })]);
  }

  function keep(key: string): void {
    confirmed.set(key, (confirmed.get(key) ?? 0) + 1);
  }

  /** Offers only the approvals that can take effect. */
  function outcomesFor(request: PolicyRequest): readonly ToolConfirmationOutcome[] {
    const { serverName, kind = "tool" } = request;
    if (kind === "resource") {
      const always = identityOf(serverName) !== undefined && rules.wouldAllow(request, readsRule(serverName));
      return [ProceedOnce, ...(always ? [ProceedAlwaysServer] : []), Cancel];
    }
    if (kind !== "tool" || rules.approvalKeyOf(request) === undefined) return [ProceedOnce, Cancel];
    const always = rules.wouldAllow(request, answerRule(request));
    // A saved approval is valid for every sender; for a single client, the user writes a rule.
    const saves =
      request.client === undefined &&
      policy().approved.canSave(serverName) &&
      !tools.isLockedOut(request) &&
      tools.changeOf(request)?.doubt === undefined &&
      rules.wouldAllow(request, savedRule(request));
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
    // If only the changed definition asked, a model's call that is confirmed once does not accept the definition: the
    // next call asks again.
    const isForThisCallOnly = isChanged && over?.decision === "allow" && request.who !== "user";
    const accepted = isForThisCallOnly ? undefined : accept(request);
    if (isChanged) given.notNew(serverName, serverToolName);
    // A new tool of a server that was approved with "always" needs its own confirmation once.
    const isNew = !isChanged && approvalKey !== undefined && given.isNewOfWhole(serverName, serverToolName);
    if (isNew) given.allowTool(serverName, serverToolName, approvalKey);
    const isCovered = isNew && rules.wouldAllow(request, answerRule(request));
    // `keyOf` must run after `accept`: the key contains the difference from the accepted definition, and the confirmed
    // request, whose own key is compared with this one, has no difference any more.
    onYes(isCovered ? undefined : keyOf(request));
    await accepted;
  }

  /** Applies the user's answer about a tool, at once. Resolves when a saved approval is on disk. */
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
        return policy().approved.save(serverName, definition);
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
    // Only tools have accepted definitions: a prompt may have the name of a tool.
    if ((request.kind ?? "tool") === "tool") return takeForTool(request, outcome, decision, onYes);
    const { fingerprint } = identityOf(request.serverName) ?? {};
    if (outcome !== ProceedAlwaysServer || fingerprint === undefined) return onYes(keyOf(request));
    approvalsOf(request.conversation).allowReads(request.serverName, fingerprint);
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
    decide: rules.decide,
    isCurrent: rules.isCurrent,
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
      // For a typed request, the user's own rule that asks explains more than the changed definition.
      const rule = request.who === "user" && decision.over?.decision === "ask_user" ? decision.over : decision.rule;
      const details = askAbout(shown, args, {
        rule: {
          decision: decision.decision,
          tier: rule.tier,
          text: ruleText(rule),
          ...(change?.doubt !== undefined && { doubt: change.doubt }),
        },
        ...(change && change.doubt === undefined && { change: change.difference() }),
        outcomes,
        async answer(given, how) {
          const place = how === "typed" ? undefined : how;
          taking.onAnswer?.(isYes(given) ? (how === "typed" ? how : "yes") : "no", place);
          // If the definition changed while the user looked at the question, the answer does not apply to it.
          if (!isYes(given) || !taking.isOpen() || keyOf(answered) !== asked) return;
          await take(answered, outcomes.includes(given) ? given : ProceedOnce, decision, taking.onYes);
        },
      });
      const answered = isTool ? { ...request, args: details.args } : request;
      const asked = keyOf(answered);
      return details;
    },
  };
}
