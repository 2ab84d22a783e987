/** Whether a call may run: what the rules allow runs, and what they ask about needs a person's word for exactly these arguments. */

import type { JsonObject } from "@fairlead/wire";
import { definitionDigest } from "../discover/tool-changes.ts";
import {
  type AskedTool,
  askAbout,
  isYes,
  type ToolCallConfirmationDetails,
  ToolConfirmationOutcome,
} from "../registry/confirmation.ts";
import { canonicalJson } from "../text/canonical-json.ts";
import { createAnswers } from "./answers.ts";
import { isChangedRule } from "./built-in-rules.ts";
import {
  answerRule,
  createJudge,
  type Judge,
  type JudgeOptions,
  type Pair,
  type PolicyRequest,
  readsRule,
  savedRule,
} from "./judge.ts";
import { notConfirmed, refusal } from "./refusal.ts";
import type { PolicyVerdict } from "./rule.ts";
import { ruleText } from "./rule-text.ts";

export type { Circumstances, Pair, PolicyRequest } from "./judge.ts";

export interface ConsentOptions extends Omit<JudgeOptions, "answers"> {
  /** A person wants the tool as it is now. */
  readonly accept: (tool: Pair) => Promise<void>;
}

export interface Consent extends Pick<Judge, "verdict" | "explain" | "typed"> {
  /** `false`: may run. Throws `denied`, naming the rule. */
  readonly ask: (tool: AskedTool, args: JsonObject) => ToolCallConfirmationDetails | false;
  /** The same for a resource that a model wants to read. */
  readonly askRead: (request: PolicyRequest, shown: AskedTool) => ToolCallConfirmationDetails | false;
  /** Throws `denied` unless it may run, now, with these arguments. A yes for once is used up; if it was for a changed definition, gives that one's digest. */
  readonly redeem: (tool: Pair, args: JsonObject) => string | undefined;
}

const { ProceedOnce, ProceedAlwaysTool, ProceedAlwaysServer, ProceedAlwaysAndSave, Cancel } = ToolConfirmationOutcome;

/** What is answered belongs to one host. */
export function createConsent({ accept, ...options }: ConsentOptions): Consent {
  const { policy, tools } = options;
  const answers = createAnswers();
  const judge = createJudge({ ...options, answers });
  /** How often what was shown may still run. */
  const confirmed = new Map<string, number>();

  /** What a yes for once is for: these arguments of this tool, as it is defined now. */
  function keyOf(tool: Pair, args: JsonObject): string {
    return canonicalJson([tool.serverName, tool.serverToolName, args, judge.sealOf(tool)]);
  }

  function outcomesFor(tool: Pair, args: JsonObject): readonly ToolConfirmationOutcome[] {
    const { serverName } = tool;
    const request = { ...tool, args };
    const isKnown = judge.sealOf(tool) !== undefined;
    const always = isKnown && judge.wouldAllow(request, answerRule(tool));
    const saves =
      isKnown &&
      policy().approved.canSave(serverName) &&
      !tools.isLockedOut(tool) &&
      judge.wouldAllow(request, savedRule(tool));
    return [
      ProceedOnce,
      ...(always ? [ProceedAlwaysTool, ProceedAlwaysServer] : []),
      ...(saves ? [ProceedAlwaysAndSave] : []),
      Cancel,
    ];
  }

  async function once(tool: Pair, args: JsonObject, { rule, over }: PolicyVerdict): Promise<void> {
    const { serverName, serverToolName } = tool;
    const seal = judge.sealOf(tool);
    const isChanged = isChangedRule(rule);
    // Where nothing but the change asked, a yes for once is no yes for the next time. Elsewhere the next time asks anyway.
    const accepted = isChanged && over?.decision === "allow" ? undefined : accept(tool);
    if (isChanged) answers.notNew(serverName, serverToolName);
    // A new tool of a server that may always is asked about once.
    else if (seal !== undefined && answers.isNewOfWhole(serverName, serverToolName))
      answers.allowTool(serverName, serverToolName, seal);
    const key = keyOf(tool, args);
    if (judge.verdict({ ...tool, args }).decision !== "allow") confirmed.set(key, (confirmed.get(key) ?? 0) + 1);
    await accepted;
  }

  /** What is said takes effect at once; it resolves when that is on the disk where it is to be kept. */
  async function take(
    tool: Pair,
    args: JsonObject,
    { outcome, verdict }: { readonly outcome: ToolConfirmationOutcome; readonly verdict: PolicyVerdict },
  ): Promise<void> {
    const { serverName, serverToolName } = tool;
    const seal = judge.sealOf(tool);
    const definition = tools.toolOf(tool);
    if (seal === undefined || definition === undefined) return once(tool, args, verdict);
    switch (outcome) {
      case ProceedAlwaysServer:
        answers.allowServer(serverName, sealsOf(serverName));
        return accept(tool);
      case ProceedAlwaysTool:
        answers.allowTool(serverName, serverToolName, seal);
        return accept(tool);
      case ProceedAlwaysAndSave:
        answers.allowTool(serverName, serverToolName, seal);
        await accept(tool);
        return policy().approved.save(serverName, definition);
      case ProceedOnce:
        return once(tool, args, verdict);
      case Cancel:
    }
  }

  function sealsOf(serverName: string): ReadonlyMap<string, string> {
    return new Map(
      tools.toolsOf(serverName).flatMap(({ name }) => {
        const seal = judge.sealOf({ serverName, serverToolName: name });
        return seal === undefined ? [] : [[name, seal] as const];
      }),
    );
  }

  return {
    verdict: judge.verdict,
    explain: judge.explain,
    typed: judge.typed,

    ask(tool, args) {
      const pair = pairOf(tool);
      const request = { ...pair, args };
      const verdict = judge.verdict(request);
      if (verdict.decision === "deny") throw refusal(request, verdict);
      if (verdict.decision === "allow") return false;
      const seal = judge.sealOf(pair);
      const change = tools.changeOf(pair);
      const outcomes = outcomesFor(pair, args);
      const details = askAbout(tool, args, {
        rule: { decision: verdict.decision, tier: verdict.rule.tier, text: ruleText(verdict.rule) },
        ...(change && { change: change.difference() }),
        outcomes,
        async answer(given) {
          // It is not what was asked about any more: a yes to that is none to this.
          if (!isYes(given) || judge.sealOf(pair) !== seal) return;
          await take(pair, details.args, { outcome: outcomes.includes(given) ? given : ProceedOnce, verdict });
        },
      });
      return details;
    },

    askRead(request, shown) {
      const { serverName, serverToolName: uri } = request;
      const verdict = judge.verdict(request);
      if (verdict.decision === "deny") throw refusal(request, verdict);
      if (verdict.decision === "allow") return false;
      const { fingerprint } = options.identityOf(serverName) ?? {};
      const always = fingerprint !== undefined && judge.wouldAllow(request, readsRule(serverName));
      return askAbout(
        shown,
        { uri },
        {
          rule: { decision: verdict.decision, tier: verdict.rule.tier, text: ruleText(verdict.rule) },
          outcomes: [ProceedOnce, ...(always ? [ProceedAlwaysServer] : []), Cancel],
          answer(given) {
            if (always && given === ProceedAlwaysServer) answers.allowReads(serverName, fingerprint);
          },
        },
      );
    },

    redeem(tool, args) {
      const verdict = judge.verdict({ ...pairOf(tool), args });
      if (verdict.decision === "deny") throw refusal({ ...pairOf(tool), args }, verdict);
      if (verdict.decision === "allow") return undefined;
      const key = keyOf(tool, args);
      const left = confirmed.get(key) ?? 0;
      if (left === 0) throw notConfirmed(tool);
      if (left === 1) confirmed.delete(key);
      else confirmed.set(key, left - 1);
      const definition = tools.changeOf(tool) && tools.toolOf(tool);
      return definition && definitionDigest(definition);
    },
  };
}

/** Of a tool that may carry much else. */
function pairOf({ serverName, serverToolName }: Pair): Pair {
  return { serverName, serverToolName };
}
