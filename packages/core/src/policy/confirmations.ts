/** Confirmations: asks the user about requests whose decision is to ask, and applies the approvals. */

import type { JsonObject } from "@fairlead/wire";
import {
  type AskedTool,
  askAbout,
  isYes,
  type ToolCallConfirmationDetails,
  ToolConfirmationOutcome,
} from "../registry/confirmation.ts";
import { canonicalJson } from "../text/canonical-json.ts";
import { createConversationApprovals } from "./conversation-approvals.ts";
import {
  answerRule,
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

/** Options of `createConfirmations`. */
export interface ConfirmationsOptions extends Omit<CreateDecideOptions, "approvals"> {
  /** Makes the tool's current definition the accepted one. */
  readonly accept: (tool: ToolIdentity) => Promise<void>;
}

/** Decisions and confirmations of one host. */
export interface Confirmations extends Pick<Decide, "decide" | "isCurrent" | "explain"> {
  /**
   * Makes the confirmation of a request whose decision is `ask_user`. The answer takes effect through its `onConfirm`.
   */
  readonly question: (request: PolicyRequest, decision: Decision, shown: AskedTool) => ToolCallConfirmationDetails;
  /** Whether the user has confirmed this request once, with these arguments and this definition. */
  readonly isConfirmed: (request: PolicyRequest) => boolean;
  /** Uses up that confirmation. */
  readonly useConfirmation: (request: PolicyRequest) => void;
  /** Makes the tool's current definition the accepted one. */
  readonly accept: (tool: ToolIdentity) => Promise<void>;
}

const { ProceedOnce, ProceedAlwaysTool, ProceedAlwaysServer, ProceedAlwaysAndSave, Cancel } = ToolConfirmationOutcome;

/** Creates the confirmations of one host. */
export function createConfirmations({ accept: acceptDefinition, ...options }: ConfirmationsOptions): Confirmations {
  const { policy, tools, identityOf } = options;
  const approvals = createConversationApprovals();
  const rules = createDecide({ ...options, approvals });
  /** How many times each confirmed request may still run. */
  const confirmed = new Map<string, number>();

  async function accept(tool: ToolIdentity): Promise<void> {
    const accepted = acceptDefinition(tool);
    approvals.bump();
    await accepted;
  }

  /** "Yes, once" holds for these arguments of this tool with its current definition. */
  function keyOf({ serverName, serverToolName, kind = "tool", args = {} }: PolicyRequest): string {
    const approvalKey = kind === "tool" ? rules.approvalKeyOf({ serverName, serverToolName }) : undefined;
    return canonicalJson([kind, serverName, serverToolName, args, approvalKey]);
  }

  function confirmOnce(request: PolicyRequest): void {
    const key = keyOf(request);
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
    const saves =
      policy().approved.canSave(serverName) &&
      !tools.isLockedOut(request) &&
      rules.wouldAllow(request, savedRule(request));
    return [
      ProceedOnce,
      ...(always ? [ProceedAlwaysTool, ProceedAlwaysServer] : []),
      ...(saves ? [ProceedAlwaysAndSave] : []),
      Cancel,
    ];
  }

  async function takeOnce(request: PolicyRequest, { rule, over }: Decision): Promise<void> {
    const { serverName, serverToolName } = request;
    const approvalKey = rules.approvalKeyOf(request);
    const isChanged = isChangedRule(rule);
    // If only the changed definition asked, a model's call that is confirmed once does not accept the definition: the
    // next call asks again.
    const isForThisCallOnly = isChanged && over?.decision === "allow" && request.who !== "user";
    const accepted = isForThisCallOnly ? undefined : accept(request);
    if (isChanged) approvals.notNew(serverName, serverToolName);
    // A tool that is new on a server with "always" needs one confirmation, which then covers it.
    const isNew = !isChanged && approvalKey !== undefined && approvals.isNewOfWhole(serverName, serverToolName);
    if (isNew) approvals.allowTool(serverName, serverToolName, approvalKey);
    if (!isNew || !rules.wouldAllow(request, answerRule(request))) confirmOnce(request);
    await accepted;
  }

  /** Takes effect at once. Resolves when the saved approval is on disk. */
  async function takeForTool(
    request: PolicyRequest,
    outcome: ToolConfirmationOutcome,
    decision: Decision,
  ): Promise<void> {
    const { serverName, serverToolName } = request;
    const approvalKey = rules.approvalKeyOf(request);
    const definition = tools.toolOf(request);
    if (approvalKey === undefined || definition === undefined) return takeOnce(request, decision);
    switch (outcome) {
      case ProceedAlwaysServer:
        approvals.allowServer(serverName, approvalKeysOf(serverName));
        return accept(request);
      case ProceedAlwaysTool:
        approvals.allowTool(serverName, serverToolName, approvalKey);
        return accept(request);
      case ProceedAlwaysAndSave:
        approvals.allowTool(serverName, serverToolName, approvalKey);
        await accept(request);
        return policy().approved.save(serverName, definition);
      case ProceedOnce:
        return takeOnce(request, decision);
      case Cancel:
    }
  }

  async function take(request: PolicyRequest, outcome: ToolConfirmationOutcome, decision: Decision): Promise<void> {
    if ((request.kind ?? "tool") === "tool") return takeForTool(request, outcome, decision);
    const { fingerprint } = identityOf(request.serverName) ?? {};
    if (outcome === ProceedAlwaysServer && fingerprint !== undefined)
      approvals.allowReads(request.serverName, fingerprint);
    else confirmOnce(request);
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
    isConfirmed: (request) => (confirmed.get(keyOf(request)) ?? 0) > 0,

    useConfirmation(request) {
      const key = keyOf(request);
      const left = (confirmed.get(key) ?? 0) - 1;
      if (left > 0) confirmed.set(key, left);
      else confirmed.delete(key);
    },

    question(request, decision, shown) {
      const approvalKey = rules.approvalKeyOf(request);
      const isTool = (request.kind ?? "tool") === "tool";
      const change = isTool
        ? tools.changeOf(request)
        : request.kind === "prompt"
          ? tools.promptChangeOf(request)
          : undefined;
      const outcomes = outcomesFor(request);
      const args: JsonObject = request.kind === "resource" ? { uri: request.serverToolName } : (request.args ?? {});
      // For a typed request, the user's own rule that asks explains more than the changed definition.
      const rule = request.who === "user" && decision.over?.decision === "ask_user" ? decision.over : decision.rule;
      const details = askAbout(shown, args, {
        rule: { decision: decision.decision, tier: rule.tier, text: ruleText(rule) },
        ...(change && { change: change.difference() }),
        outcomes,
        async answer(given) {
          // The definition has changed while the user looked at it: a yes to the old definition is no yes to the new
          // one.
          if (!isYes(given) || rules.approvalKeyOf(request) !== approvalKey) return;
          const asked = isTool ? { ...request, args: details.args } : request;
          await take(asked, outcomes.includes(given) ? given : ProceedOnce, decision);
        },
      });
      return details;
    },
  };
}
