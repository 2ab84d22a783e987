/**
 * What another policy would change: the requests of the last days are decided again, by the current rules and by the new
 * ones, with the same code that decides about requests. Only the two decisions are compared: what happened then can have
 * had other reasons, such as a changed definition.
 */

import {
  approvalRule,
  approverOf,
  type CheckRequest,
  type Decision,
  PolicyEngine,
  type PolicyRule,
  ruleText,
} from "@fairlead/core/policy";
import type { CountedBy, LedgerStore, ReadRow, RowCount } from "../store/ledger.ts";
import type { TeamStore } from "../store/store.ts";

/** A slice of time that one query counts, in milliseconds. */
const slice = 6 * 3_600_000;
/** The most rows that are read one by one, because a rule is about their arguments. */
const mostRows = 50_000;
const pageRows = 5000;
const countedBy: readonly CountedBy[] = ["principal", "client", "server", "tool", "kind", "mode"];

export interface DryRunOptions {
  readonly store: Pick<TeamStore, "ledger" | "users" | "approvals">;
  readonly tenant: number;
  /** All rules that count now, and those that would count. */
  readonly before: readonly PolicyRule[];
  readonly after: readonly PolicyRule[];
  /** In milliseconds since 1970. */
  readonly since: number;
  readonly until: number;
  /** Called with the part of the time that is done, from 0 to 1. */
  readonly onProgress?: (part: number) => void;
}

/** `ask leads`: a member of the group leads is asked. */
export type DecisionWord = "allow" | "ask" | "deny" | `ask ${string}`;

/** Requests with the same tool and the same change. */
export interface DecisionChange {
  readonly server: string;
  readonly tool: string;
  readonly kind: string;
  readonly from: DecisionWord;
  readonly to: DecisionWord;
  readonly count: number;
  readonly users: number;
  /** The latest of the requests. */
  readonly example: {
    readonly user: string;
    readonly client: string | undefined;
    readonly at: number;
    /** The rules that decide, in words. */
    readonly before: string;
    readonly after: string;
  };
}

export interface DryRun {
  /** How many requests were decided again. */
  readonly requests: number;
  /** How many of them would be decided differently. */
  readonly changed: number;
  /** How many could not be decided: a rule is about their arguments, which are not stored. */
  readonly unknown: number;
  /** The most frequent first. */
  readonly changes: readonly DecisionChange[];
  /** Whether a rule is about annotations. They are not in the history, so they count as missing. */
  readonly hasAnnotations: boolean;
}

/** Requests that are equal in what rules are about, except the arguments. */
interface RequestGroup extends RowCount {
  readonly principal: string;
  readonly server: string;
  readonly tool: string;
}

export async function dryRun(options: DryRunOptions): Promise<DryRun> {
  const { store, tenant, before, after } = options;
  const groups = await countGroups(options);
  const userGroups = await store.users.groupsOf(tenant, [...new Set(groups.map(({ principal }) => principal))]);
  const found = new Changes();
  const engines = { before: new Engines(before), after: new Engines(after) };
  const approvals = new Map<string, readonly PolicyRule[]>();
  let requests = 0;
  let unknown = 0;
  let rowsLeft = mostRows;

  async function approvalsOf(principal: string): Promise<readonly PolicyRule[]> {
    const earlier = approvals.get(principal);
    if (earlier !== undefined) return earlier;
    const savedApprovals = await store.approvals.list({ tenant, principal });
    const rules = savedApprovals.map(({ server, tool, kind, client }) =>
      approvalRule({ serverName: server, serverToolName: tool, ...(kind !== "tool" && { kind }), client }),
    );
    approvals.set(principal, rules);
    return rules;
  }

  async function compare(group: RequestGroup, check: CheckRequest, count: number, at: number): Promise<void> {
    let decided = [engines.before.check(check, []), engines.after.check(check, [])] as const;
    // A saved approval can only answer what a rule asks.
    if (decided.some(({ decision }) => decision === "ask_user")) {
      const own = await approvalsOf(group.principal);
      if (own.length > 0) decided = [engines.before.check(check, own), engines.after.check(check, own)];
    }
    requests += count;
    found.add(group, decided, count, at);
  }

  for (const group of groups) {
    const check = toCheck(group, userGroups.get(group.principal) ?? []);
    if (!engines.before.dependsOnArguments(check) && !engines.after.dependsOnArguments(check)) {
      await compare(group, check, group.count, group.latest);
      continue;
    }
    let seen = 0;
    for await (const { arguments: args, at } of rowsOf(options, group)) {
      if (rowsLeft === 0) break;
      rowsLeft -= 1;
      seen += 1;
      if (args === undefined) unknown += 1;
      else await compare(group, { ...check, args }, 1, at);
    }
    unknown += Math.max(0, group.count - seen);
  }
  return {
    requests,
    unknown,
    ...found.result(),
    hasAnnotations: [...before, ...after].some(({ annotations }) => annotations !== undefined),
  };
}

async function countGroups({
  store,
  tenant,
  since,
  until,
  onProgress,
}: DryRunOptions): Promise<readonly RequestGroup[]> {
  const groups = new Map<string, RequestGroup>();
  for (let from = since; from < until; from += slice) {
    const to = Math.min(from + slice, until);
    const counted = await store.ledger.count(
      { tenant, since: from, until: to, limit: Number.MAX_SAFE_INTEGER },
      countedBy,
    );
    for (const row of counted) {
      const { principal, server, tool, kind, client, mode } = row;
      if (principal === undefined || server === undefined || tool === undefined || kind === "admin") continue;
      const key = JSON.stringify([principal, server, tool, kind, client, mode]);
      const other = groups.get(key);
      const count = row.count + (other?.count ?? 0);
      groups.set(key, { ...row, principal, server, tool, count, latest: Math.max(row.latest, other?.latest ?? 0) });
    }
    onProgress?.((to - since) / (until - since));
  }
  return [...groups.values()];
}

async function* rowsOf(
  { store, tenant, since, until }: DryRunOptions,
  { principal, server, tool, kind, client, mode }: RequestGroup,
): AsyncGenerator<ReadRow> {
  let before: Parameters<LedgerStore["read"]>[0]["before"];
  for (;;) {
    const search = { tenant, principal, server, tool, since, until, limit: pageRows };
    const page = await store.ledger.read(before === undefined ? search : { ...search, before });
    for (const row of page) if (row.kind === kind && row.client === client && row.mode === mode) yield row;
    before = page.at(-1);
    if (before === undefined || page.length < pageRows) return;
  }
}

function toCheck(
  { server, tool, kind, client, mode, principal }: RequestGroup,
  groups: readonly string[],
): CheckRequest {
  return {
    server,
    tool,
    // The columns contain what the ledger has written.
    kind: kind as NonNullable<CheckRequest["kind"]>,
    mode: mode as CheckRequest["mode"],
    client,
    principal: { user: principal, groups },
    interactive: true,
  };
}

/** The rules of one policy. */
class Engines {
  readonly #rules: readonly PolicyRule[];
  readonly #engine: PolicyEngine;
  /** The rules about arguments, as if they were about all arguments. */
  readonly #withoutPatterns: PolicyEngine;

  constructor(rules: readonly PolicyRule[]) {
    this.#rules = rules;
    this.#engine = new PolicyEngine({ rules });
    this.#withoutPatterns = new PolicyEngine({
      rules: rules.flatMap(({ argsPattern, ...rule }) => (argsPattern === undefined ? [] : [rule])),
    });
  }

  /** @param own The rules for the user's saved approvals. */
  check(request: CheckRequest, own: readonly PolicyRule[]): Decision {
    return own.length === 0
      ? this.#engine.check(request)
      : new PolicyEngine({ rules: [...this.#rules, ...own] }).check(request);
  }

  dependsOnArguments(request: CheckRequest): boolean {
    // The default rule always matches.
    return this.#withoutPatterns.matching(request).length > 1;
  }
}

/** Collects requests whose decisions differ. */
class Changes {
  readonly #changes = new Map<string, { change: DecisionChange; readonly users: Set<string> }>();

  add(group: RequestGroup, [before, after]: readonly [Decision, Decision], count: number, at: number): void {
    const [from, to] = [wordOf(before), wordOf(after)];
    if (from === to) return;
    const { server, tool, kind = "tool", principal: user, client } = group;
    const key = JSON.stringify([server, tool, kind, from, to]);
    const earlier = this.#changes.get(key);
    const users = earlier?.users.add(user) ?? new Set([user]);
    const example = { user, client, at, before: ruleText(before.rule), after: ruleText(after.rule) };
    const change: DecisionChange = {
      server,
      tool,
      kind,
      from,
      to,
      count: count + (earlier?.change.count ?? 0),
      users: users.size,
      example: earlier === undefined || earlier.change.example.at < at ? example : earlier.change.example,
    };
    this.#changes.set(key, { change, users });
  }

  result(): Pick<DryRun, "changed" | "changes"> {
    const changes = [...this.#changes.values()]
      .map(({ change }) => change)
      .sort((one, other) => other.count - one.count);
    return { changes, changed: changes.reduce((sum, { count }) => sum + count, 0) };
  }
}

function wordOf(decision: Decision): DecisionWord {
  if (decision.decision !== "ask_user") return decision.decision;
  const approver = approverOf(decision);
  return approver === undefined ? "ask" : `ask ${approver}`;
}
