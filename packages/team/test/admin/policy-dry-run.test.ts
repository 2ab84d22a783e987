/** What another policy would change, compared with counts that were worked out by hand. */

import { readPolicies } from "@fairlead/core/policy";
import { testDatabase } from "@fairlead/test-servers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DryRun, dryRun } from "../../src/admin/policy-dry-run.ts";
import { type AuditRow, newRequestId } from "../../src/store/ledger.ts";
import type { TeamStore } from "../../src/store/store.ts";
import { newRow } from "../store/contract/ledger.ts";
import { openStore } from "../support/open-store.ts";

const database = await testDatabase("the dry run of a team's policy");
const day = 86_400_000;
const now = Date.now();
const ada = "https://idp.example#ada";
const bob = "https://idp.example#bob";
const cyd = "https://idp.example#cyd";

const current = `
[[rule]]
mcpName = "github"
decision = "allow"
priority = 100

[[rule]]
mcpName = "shop"
toolName = "pay"
decision = "ask_user"
priority = 100
`;

const next = `
[[rule]]
mcpName = "github"
decision = "allow"
priority = 100

[[rule]]
mcpName = "github"
toolName = "delete_*"
group = "interns"
decision = "deny"
priority = 200

[[rule]]
mcpName = "github"
toolName = "merge"
decision = "ask_user"
approver = "leads"
priority = 200

[[rule]]
mcpName = "shop"
toolName = "pay"
argsPattern = '"amount":[0-9]{4,}'
decision = "deny"
priority = 200

[[rule]]
mcpName = "shop"
toolName = "pay"
decision = "ask_user"
priority = 100
`;

const rulesOf = async (text: string) => (await readPolicies(text, "policy", [])).rules;

describe.runIf(database !== undefined)("a dry run", () => {
  let store: TeamStore;
  beforeAll(async () => {
    if (database === undefined) return;
    store = await openStore(database);
    await store.users.seen({ tenant: 1, principal: ada, groups: ["engineers"], issuedAt: 1 });
    await store.users.seen({ tenant: 1, principal: bob, groups: ["interns"], issuedAt: 1 });
  });
  afterAll(async () => {
    await store.close();
    await database?.[Symbol.asyncDispose]();
  });

  async function send(times: number, principal: string, server: string, tool: string, more: Partial<AuditRow> = {}) {
    const age = Math.floor(Math.random() * 6 * day);
    const row = () =>
      newRow({ id: newRequestId(now - age), owner: { tenant: 1, principal }, server, tool, client: "claude", ...more });
    await Promise.all(Array.from({ length: times }, () => store.ledger.record(row())));
  }

  const compare = async (more: { readonly since?: number; readonly after?: string } = {}): Promise<DryRun> =>
    dryRun({
      store,
      tenant: 1,
      before: await rulesOf(current),
      after: await rulesOf(more.after ?? next),
      since: more.since ?? now - 7 * day,
      until: now + 1000,
    });

  it("of requests by groups, approvers, arguments and saved approvals counts what was worked out by hand", async () => {
    // Nothing changes: allowed before and after, or denied to nobody.
    await send(40, ada, "github", "list_issues");
    await send(3, ada, "github", "delete_branch");
    await send(5, bob, "github", "list_issues");
    // 4: an intern may not delete.
    await send(3, bob, "github", "delete_branch");
    await send(1, bob, "github", "delete_repo");
    // 7: a lead is asked about merges, by whoever is the sender.
    await send(5, ada, "github", "merge");
    await send(2, cyd, "github", "merge");
    // 2 of 6: payments of four digits. 3 have no arguments.
    await send(4, ada, "shop", "pay", { arguments: { amount: 20 } });
    await send(2, ada, "shop", "pay", { arguments: { amount: 5000 } });
    await send(3, cyd, "shop", "pay");
    // Too old, of another tenant, and by an administrator.
    await send(9, bob, "github", "delete_branch", { id: newRequestId(now - 8 * day) });
    await send(9, bob, "github", "delete_branch", { owner: { tenant: 2, principal: bob } });
    await send(1, bob, "github", "delete_branch", { kind: "admin" });

    const { changes, ...counts } = await compare();
    expect(counts).toEqual({ requests: 40 + 3 + 5 + 4 + 7 + 6, changed: 4 + 7 + 2, unknown: 3, hasAnnotations: false });
    expect(
      changes.map(({ server, tool, from, to, count, users }) => [`${server}.${tool}`, from, to, count, users]),
    ).toEqual([
      ["github.merge", "allow", "ask leads", 7, 2],
      ["github.delete_branch", "allow", "deny", 3, 1],
      ["shop.pay", "ask", "deny", 2, 1],
      ["github.delete_repo", "allow", "deny", 1, 1],
    ]);
    expect(changes[1]?.example).toMatchObject({ user: bob, client: "claude" });
    expect(changes[1]?.example.after).toContain("policy:7");
  });

  it("of the same policy changes nothing, and of the time after the requests sees none", async () => {
    expect(await compare({ after: current })).toMatchObject({ changed: 0, changes: [] });
    expect(await compare({ since: now + 500 })).toMatchObject({ requests: 0, changed: 0 });
  });

  it("knows that a saved approval answers what no administrator's rule asks", async () => {
    const saved = {
      server: "wiki",
      fingerprint: "f",
      kind: "tool",
      digest: "d",
      by: ada,
      at: new Date(now).toISOString(),
    };
    await store.approvals.save({ tenant: 1, principal: ada }, { ...saved, kind: "tool", tool: "edit" });
    await send(6, ada, "wiki", "edit");
    await send(2, cyd, "wiki", "edit");
    const asks = `${current}\n[[rule]]\nmcpName = "wiki"\ndecision = "ask_user"\npriority = 100\n`;
    const { changes } = await compare({ after: asks });
    // Ada's calls ran, and are asked about from then on. Cyd was asked before.
    expect(changes.map(({ tool, from, to, count }) => [tool, from, to, count])).toEqual([["edit", "allow", "ask", 6]]);
  });

  it("of a file with a mistake is not made: the rules are stricter and the problem is named", async () => {
    const { rules, problems } = await readPolicies("[[rule]]\ndecision = 'alow'\npriority = 1\n", "new.toml", []);
    expect(problems[0]?.message).toContain("alow");
    expect(rules.every(({ decision }) => decision !== "allow")).toBe(true);
  });
});
