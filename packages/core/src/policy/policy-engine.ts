/**
 * Finds the rule that decides about a request, and then applies the approval mode, changed definitions and a missing
 * terminal.
 */

import type { JsonObject } from "@fairlead/wire";
import { canonicalJson } from "../text/canonical-json.ts";
import {
  acrossReason,
  acrossRule,
  builtIn,
  defaultRules,
  isAcrossRule,
  isChangedRule,
  isUnsavedRule,
  unsavedRule,
} from "./rules/built-in-rules.ts";
import type { CheckRequest, Decision, DecisionOutcome, PolicyRule, Tier } from "./rules/rule.ts";

/** Applies rules to requests, without side effects. `check` returns the decision and the rule that decided. */
export class PolicyEngine {
  readonly #rules: readonly PolicyRule[];

  constructor(options: { readonly rules: readonly PolicyRule[] }) {
    // The sort is stable: if two rules are equally strong, the rule that was given first decides.
    this.#rules = options.rules.filter(mayCount).sort(byStrength);
  }

  check(request: CheckRequest): Decision {
    return this.#decide(request);
  }

  /** Whether the request runs without confirmation. */
  allows(request: CheckRequest): boolean {
    return this.#decide(request).decision === "allow";
  }

  /**
   * Returns all matching rules, strongest first. The first rule decides, unless the approval mode, a changed definition
   * or a missing terminal changes the decision.
   */
  matching(request: CheckRequest): readonly PolicyRule[] {
    const fallback = defaultRules[request.kind ?? "tool"];
    const matches = this.#matches(request);
    const first = decidingRule(matches, fallback);
    return [first, ...[...matches, fallback].filter((rule) => rule !== first)];
  }

  /**
   * Whether the request is denied whatever its server lists: neither the tool's annotations nor its definition can make
   * another rule decide. Arguments count if they are given.
   */
  deniesByName(request: CheckRequest): boolean {
    const possible = this.#rules.filter((rule) => {
      if (!dependsOnTool(rule, request)) return isMatch(rule, request, { json: undefined });
      const { annotations: _, argsPattern: __, ...byName } = rule;
      return rule.decision !== "deny" && isMatch(byName, request, { json: undefined });
    });
    const base = decidingRule(possible, defaultRules[request.kind ?? "tool"]);
    return withCircumstances(base, { ...request, annotations: { readOnlyHint: true } }).decision === "deny";
  }

  #decide(request: CheckRequest): Decision {
    return withCircumstances(decidingRule(this.#matches(request), defaultRules[request.kind ?? "tool"]), request);
  }

  #matches(request: CheckRequest): readonly PolicyRule[] {
    const matches: PolicyRule[] = [];
    // Writes the arguments as text at most once, because several rules may need them.
    const written: WrittenArguments = { json: undefined };
    for (const rule of this.#rules) if (isMatch(rule, request, written)) matches.push(rule);
    return matches;
  }
}

/** The rank of each tier. 0 is the strongest. */
const ranks: Readonly<Record<Tier, number>> = { administrator: 0, user: 1, workspace: 2, conversation: 3, default: 4 };
const strictnesses: Readonly<Record<DecisionOutcome, number>> = { allow: 0, ask_user: 1, deny: 2 };

/**
 * Whether a rule has an effect. An allow rule of a workspace has none, because a workspace may only add restrictions.
 */
function mayCount({ tier, decision }: PolicyRule): boolean {
  return tier !== "workspace" || decision !== "allow";
}

function byStrength(a: PolicyRule, b: PolicyRule): number {
  return (
    Number(b.isGate === true) - Number(a.isGate === true) ||
    ranks[a.tier] - ranks[b.tier] ||
    b.priority - a.priority ||
    strictness(b) - strictness(a)
  );
}

function strictness({ decision }: PolicyRule): number {
  return strictnesses[decision];
}

/** The strongest matching rule of each kind. */
interface Strongest {
  /** The strongest rule of the administrator or the user, or a deny rule with `isGate`, which no rule can overrule. */
  own?: PolicyRule;
  trust?: PolicyRule;
  conversation?: PolicyRule;
  default?: PolicyRule;
  workspace?: PolicyRule;
  /** The strictest rule that stands for an unreadable policy file or table. */
  doubt?: PolicyRule | undefined;
}

/**
 * Returns the rule that decides. `matches` are the matching rules, strongest first. If there are none, `fallback`
 * decides. A rule for an unreadable file can only make the decision stricter.
 */
function decidingRule(matches: readonly PolicyRule[], fallback: PolicyRule): PolicyRule {
  const strongest: Strongest = {};
  for (const rule of matches) {
    if (isDoubt(rule)) strongest.doubt = stricter(strongest.doubt, rule);
    else strongest[kindOf(rule)] ??= rule;
  }
  const decided = strongest.own ?? belowOwn(strongest, fallback);
  return stricter(strongest.doubt, decided) ?? decided;
}

/**
 * The rule that decides if no rule of the administrator or user matches. A stricter rule of the workspace or the
 * conversation overrules the setting `trust`.
 */
function belowOwn({ trust, conversation, default: standard, workspace }: Strongest, fallback: PolicyRule): PolicyRule {
  const below = stricter(trust, conversation) ?? standard ?? fallback;
  return stricter(workspace, below) ?? below;
}

function kindOf(rule: PolicyRule): Exclude<keyof Strongest, "doubt"> {
  const { tier } = rule;
  if (rule.isGate === true) return "own";
  if (isTrust(rule)) return "trust";
  return tier === "administrator" || tier === "user" ? "own" : tier;
}

function isTrust({ origin }: PolicyRule): boolean {
  return origin.source === "trust";
}

function isDoubt(rule: PolicyRule): boolean {
  return rule.isDoubt === true;
}

/** The stricter of two rules. If both are equally strict, returns `strong`. */
function stricter(strong: PolicyRule | undefined, weak: PolicyRule | undefined): PolicyRule | undefined {
  if (strong === undefined || weak === undefined) return strong ?? weak;
  return strictness(weak) > strictness(strong) ? weak : strong;
}

/**
 * Replaces the rule if the request requires it. Checks in this order: plan mode, a changed definition, files that an
 * approval cannot be bound to, yolo mode, no terminal to ask on. Never replaces a rule that denies.
 */
function withCircumstances(base: PolicyRule, request: CheckRequest): Decision {
  let rule = base;
  if (rule.decision !== "deny" && request.mode === "plan") rule = planned(rule, request);
  if (rule.decision !== "deny" && request.isChanged === true)
    rule = request.doubt === undefined ? builtIn.changed : unsavedRule(request.doubt, "ask_user");
  if (rule.decision === "allow" && request.isUnbound === true) rule = builtIn.dynamic;
  if (rule.decision === "ask_user" && request.mode === "yolo" && yields(rule) && request.kind !== "host")
    rule = request.isUnbound === true ? builtIn.dynamic : builtIn.yolo;
  if (rule.decision !== "deny" && !isChangedRule(rule) && request.actingOn !== undefined && request.actingOn.length > 0)
    rule = acrossRule(acrossReason(request.actingOn, request.server), "ask_user");
  if (rule.decision === "ask_user" && base.approver !== undefined && request.principal === undefined)
    rule = builtIn.noApprover;
  if (rule.decision === "ask_user" && !request.interactive) rule = unseen(rule, request);
  return rule === base ? { decision: rule.decision, rule } : { decision: rule.decision, rule, over: base };
}

/** The rule that denies a request because `rule` asks and there is no terminal to ask on. */
function unseen(rule: PolicyRule, { doubt = "" }: CheckRequest): PolicyRule {
  if (isUnsavedRule(rule)) return unsavedRule(doubt, "deny");
  if (isAcrossRule(rule)) return acrossRule(`${rule.denyMessage}; there is no terminal to ask on`, "deny");
  return rule === builtIn.changed ? builtIn.changedUnseen : builtIn.headless;
}

/**
 * Applies plan mode. Plan mode denies a tool, unless a trusted server declares that the tool is read-only. Such a tool
 * needs confirmation.
 */
function planned(rule: PolicyRule, { kind = "tool", annotations, trustsAnnotations }: CheckRequest): PolicyRule {
  if (kind !== "tool") return rule;
  if (trustsAnnotations !== true || annotations?.["readOnlyHint"] !== true) return builtIn.plan;
  return rule.decision === "allow" ? builtIn.planAsks : rule;
}

function yields(rule: PolicyRule): boolean {
  return rule.tier !== "administrator" && !isChangedRule(rule) && !isDoubt(rule) && rule.approver === undefined;
}

function dependsOnTool({ annotations, argsPattern }: PolicyRule, { args }: CheckRequest): boolean {
  return annotations !== undefined || (argsPattern !== undefined && args === undefined);
}

interface WrittenArguments {
  json: string | undefined;
}

function isMatch(rule: PolicyRule, request: CheckRequest, written: WrittenArguments): boolean {
  if (!matchesPair(rule, request) || !matchesCircumstances(rule, request)) return false;
  if (rule.argsPattern === undefined) return true;
  if (request.args === undefined) return false;
  written.json ??= canonicalJson(request.args);
  return rule.argsPattern.matches(written.json);
}

function matchesPair(rule: PolicyRule, request: CheckRequest): boolean {
  const { server, tool, kind = "tool", client, label, isLabelShared = false } = request;
  if (rule.kind === undefined ? rule.tool !== undefined && kind !== "tool" : rule.kind !== kind) return false;
  // A sandbox is there to hold a server that its user trusts otherwise, so only a rule about hosts opens it.
  if (kind === "host" && rule.kind === undefined && rule.decision === "allow") return false;
  if (rule.client !== undefined && (client === undefined || !rule.client.matches(client))) return false;
  if (!matchesPrincipal(rule, request)) return false;
  if (rule.server?.matches(server) === false) return false;
  if (rule.tool?.matches(tool) ?? true) return true;
  if (label === undefined || (rule.decision === "allow" && isLabelShared)) return false;
  return rule.tool?.matches(label) === true;
}

function matchesPrincipal({ user, group }: PolicyRule, { principal }: CheckRequest): boolean {
  if (user !== undefined && (principal === undefined || !user.matches(principal.user))) return false;
  return group === undefined || (principal?.groups?.some((name) => group.matches(name)) ?? false);
}

function matchesCircumstances(rule: PolicyRule, request: CheckRequest): boolean {
  if (rule.modes !== undefined && !rule.modes.includes(request.mode)) return false;
  if (rule.interactive !== undefined && rule.interactive !== request.interactive) return false;
  return rule.annotations === undefined || matchesAnnotations(rule.annotations, rule, request);
}

function matchesAnnotations(
  annotations: NonNullable<PolicyRule["annotations"]>,
  rule: PolicyRule,
  request: CheckRequest,
): boolean {
  for (const [name, wanted] of annotations) if (!valuesOf(name, rule, request).includes(wanted)) return false;
  return true;
}

/**
 * The values that MCP defines for missing annotations. For rules that allow, they also replace annotations that the
 * user does not trust.
 */
const worstCase: ReadonlyMap<string, unknown> = new Map([
  ["readOnlyHint", false],
  ["destructiveHint", true],
  ["idempotentHint", false],
  ["openWorldHint", true],
]);

/**
 * The values of an annotation that a rule may match. An annotation that the user does not trust can match a rule that
 * denies or asks, but not a rule that allows.
 */
function valuesOf(
  name: string,
  { decision }: PolicyRule,
  { annotations = {}, trustsAnnotations = false }: CheckRequest,
): readonly unknown[] {
  const annotated = annotationOf(annotations, name);
  const worst = worstCase.get(name);
  if (trustsAnnotations) return [annotated ?? worst];
  return decision === "allow" ? [worst] : [annotated, worst];
}

function annotationOf(annotations: JsonObject, name: string): unknown {
  return Object.hasOwn(annotations, name) ? annotations[name] : undefined;
}
