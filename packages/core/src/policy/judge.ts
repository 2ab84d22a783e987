/** What the rules, the saved approvals and the answers of this conversation come to for one request, as things are now. */

import type { JsonObject } from "@fairlead/wire";
import type { CatalogTool } from "../discover/catalog.ts";
import { type Difference, definitionDigest } from "../discover/tool-changes.ts";
import type { Answers } from "./answers.ts";
import type { ServerIdentity } from "./approvals.ts";
import type { ApprovedTools } from "./approved-tools.ts";
import { isChangedRule } from "./built-in-rules.ts";
import { exactName } from "./name-pattern.ts";
import { PolicyEngine } from "./policy-engine.ts";
import type { ApprovalMode, CheckRequest, PolicyRule, PolicyVerdict, RequestKind } from "./rule.ts";

/** Who is meant: the identity of a tool, whatever it is called elsewhere. */
export interface Pair {
  readonly serverName: string;
  readonly serverToolName: string;
}

/** Its definition is not the one that was accepted. */
export interface Change {
  readonly difference: () => readonly Difference[];
}

/** What is known of tools, kept elsewhere. */
export interface ToolKnowledge {
  readonly toolOf: (tool: Pair) => CatalogTool | undefined;
  readonly toolsOf: (server: string) => readonly CatalogTool[];
  readonly changeOf: (tool: Pair) => Change | undefined;
  readonly promptChangeOf: (prompt: Pair) => Change | undefined;
  /** The lock file has another definition: in the next run it is changed again, whatever is said now. */
  readonly isLockedOut: (tool: Pair) => boolean;
}

export interface PolicyRequest extends Pair {
  readonly kind?: RequestKind;
  readonly args?: JsonObject;
}

/** What may differ from how the host was opened. */
export interface Circumstances {
  readonly mode?: ApprovalMode;
  readonly interactive?: boolean;
}

/** All that counts beside what a person answers. */
export interface Policy {
  readonly rules: readonly PolicyRule[];
  readonly approved: ApprovedTools;
}

export interface JudgeOptions extends Required<Circumstances> {
  /** As it is now. */
  readonly policy: () => Policy;
  readonly answers: Answers;
  readonly tools: ToolKnowledge;
  readonly trustsAnnotations: (server: string) => boolean;
  readonly identityOf: (server: string) => ServerIdentity | undefined;
}

export interface Judgement {
  readonly verdict: PolicyVerdict;
  /** Every rule that speaks of it, the strongest first. */
  readonly matching: readonly PolicyRule[];
  readonly change: Change | undefined;
}

export interface Judge {
  readonly verdict: (request: PolicyRequest, how?: Circumstances) => PolicyVerdict;
  /** The verdict with all that had a say; `typed`: for who wants it themselves. */
  readonly explain: (request: PolicyRequest, isTyped?: boolean) => Judgement;
  /** Whether it would run without a question if that rule were there and the tool were accepted as it is. */
  readonly wouldAllow: (request: PolicyRequest, rule: PolicyRule) => boolean;
  /** The person themselves wants exactly this: only what is denied, what they or an administrator want to be asked about, and what has changed stops it. */
  readonly typed: (request: PolicyRequest) => PolicyVerdict;
  /** What a yes to a tool is for: the server's entry and the tool's definition. Undefined while nothing is known of them. */
  readonly sealOf: (tool: Pair) => string | undefined;
}

const typedRule: PolicyRule = {
  tier: "default",
  decision: "allow",
  priority: 0,
  origin: { source: "built_in", name: "typed" },
};

export function createJudge(options: JudgeOptions): Judge {
  const { policy, answers, tools, trustsAnnotations, identityOf, mode, interactive } = options;
  let engine: { readonly of: readonly PolicyRule[]; readonly engine: PolicyEngine } | undefined;

  /** Most requests have no rule of their own. */
  function engineWith(own: readonly PolicyRule[]): PolicyEngine {
    const { rules } = policy();
    if (own.length > 0) return new PolicyEngine({ rules: [...rules, ...own] });
    if (engine?.of !== rules) engine = { of: rules, engine: new PolicyEngine({ rules }) };
    return engine.engine;
  }

  function sealOf(tool: Pair): string | undefined {
    const identity = identityOf(tool.serverName);
    const definition = tools.toolOf(tool);
    return identity && definition && `${identity.fingerprint} ${definitionDigest(definition)}`;
  }

  const fingerprintOf = (server: string): string => identityOf(server)?.fingerprint ?? "";

  /** What was said of exactly this tool, of exactly this server. */
  function ownRules(request: PolicyRequest): readonly PolicyRule[] {
    const { serverName, serverToolName, kind = "tool" } = request;
    if (kind === "resource")
      return answers.allowsReads(serverName, fingerprintOf(serverName)) ? [readsRule(serverName)] : [];
    const definition = kind === "tool" ? tools.toolOf(request) : undefined;
    if (definition === undefined) return [];
    const saved = policy().approved.find(serverName, serverToolName);
    const seal = sealOf(request);
    return [
      ...(saved?.digest === definitionDigest(definition) ? [savedRule(request)] : []),
      ...(seal !== undefined && answers.allows(serverName, serverToolName, seal) ? [answerRule(request)] : []),
    ];
  }

  function toCheck(request: PolicyRequest, how: Circumstances): CheckRequest {
    const { serverName, serverToolName, kind = "tool", args } = request;
    const annotations = kind === "tool" ? tools.toolOf(request)?.annotations : undefined;
    return {
      server: serverName,
      tool: serverToolName,
      kind,
      ...(args && { args }),
      ...(annotations && { annotations }),
      trustsAnnotations: trustsAnnotations(serverName),
      isChanged: changeOf(request) !== undefined,
      mode: how.mode ?? mode,
      interactive: how.interactive ?? interactive,
    };
  }

  function changeOf(request: PolicyRequest): Change | undefined {
    if (request.kind === "prompt") return tools.promptChangeOf(request);
    return (request.kind ?? "tool") === "tool" ? tools.changeOf(request) : undefined;
  }

  function verdict(request: PolicyRequest, how: Circumstances = {}, by = engineWith(ownRules(request))): PolicyVerdict {
    return by.check(toCheck(request, how));
  }

  function typed(request: PolicyRequest, by?: PolicyEngine): PolicyVerdict {
    // Modes are about what a model may do.
    const found = verdict(request, { mode: "default", interactive: true }, by);
    const { rule, decision } = found;
    const isOwn = rule.tier === "administrator" || rule.tier === "user" || rule.isDoubt === true;
    if (decision !== "ask_user" || isOwn || isChangedRule(rule)) return found;
    return { decision: "allow", rule: typedRule, over: rule };
  }

  return {
    verdict: (request, how) => verdict(request, how),
    explain(request, isTyped = false) {
      const by = engineWith(ownRules(request));
      return {
        verdict: isTyped ? typed(request, by) : verdict(request, {}, by),
        matching: by.matching(toCheck(request, {})),
        change: changeOf(request),
      };
    },
    wouldAllow(request, rule) {
      const { decision } = engineWith([...ownRules(request), rule]).check({
        ...toCheck(request, {}),
        isChanged: false,
      });
      return decision === "allow";
    },
    typed: (request) => typed(request),
    sealOf,
  };
}

type RuleFor = (tool: Pair) => PolicyRule;

/** Said for all conversations. A rule of the user's that asks or denies is stricter. */
export const savedRule: RuleFor = (tool) => ({
  ...pairRule(tool),
  tier: "user",
  origin: { source: "approval" },
});

export const answerRule: RuleFor = (tool) => ({
  ...pairRule(tool),
  tier: "conversation",
  origin: { source: "answer" },
});

function pairRule({ serverName, serverToolName }: Pair): Pick<PolicyRule, "decision" | "priority" | "server" | "tool"> {
  return { decision: "allow", priority: 0, server: exactName(serverName), tool: exactName(serverToolName) };
}

/** A model may read what that server has. */
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
