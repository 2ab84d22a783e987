/** The commands of a team's administrator, with a database. */

import { randomBytes } from "node:crypto";
import { KeyRing } from "@fairlead/team/store/key-ring";
import { newRequestId } from "@fairlead/team/store/ledger";
import { openPostgresStore } from "@fairlead/team/store/postgres/store";
import { type TestDatabase, testDatabase } from "@fairlead/test-servers";
import { afterAll, describe, expect, test } from "vitest";
import { type Machine, machine } from "../../support/machine.ts";

const database = await testDatabase("the commands for a team");
const keys = `k1 ${randomBytes(32).toString("base64")}`;
const policy = `[[rule]]
mcpName = "github"
decision = "allow"
priority = 100
`;
const stricter = `${policy}
[[rule]]
mcpName = "github"
toolName = "merge"
group = "interns"
decision = "ask_user"
approver = "leads"
priority = 200
`;

describe.runIf(database !== undefined)("fairlead team", () => {
  afterAll(() => database?.[Symbol.asyncDispose]());

  async function teamMachine(): Promise<Machine> {
    const { url } = database as TestDatabase;
    const here = await machine();
    await here.write("keys", keys);
    await here.write("etc/settings.json", {
      mcpServers: { github: { httpUrl: "https://github.example/mcp" } },
      fairlead: {
        team: {
          url: "https://mcp.example",
          store: { url: `$${"{TEST_DATABASE}"}` },
          keys: `$${"{file:"}${here.path}/keys}`,
          auth: { issuers: [{ issuer: "https://idp.example" }], apiKeys: true },
        },
      },
    });
    const env = { TEST_DATABASE: url, USER: "root", FAIRLEAD_SECRET_STORE: "file" };
    return { ...here, run: (...argv) => here.runWith({ env }, ...argv) };
  }

  const openStore = () =>
    openPostgresStore({ url: (database as TestDatabase).url, ring: KeyRing.parse(keys, "keys"), pool: 1 });

  test("says which section is missing, and that the database has no tables yet", async () => {
    await using other = await machine();
    const without = await other.run("team", "status");
    expect(without).toMatchObject({ code: 3 });
    expect(without.stderr).toContain("the system settings have no section fairlead.team");
    await using here = await teamMachine();
    const first = await here.run("team", "status");
    expect(first).toMatchObject({ code: 1, stdout: "" });
    expect(first.stderr).toMatch(/the database has no tables of Fairlead\n *next: fairlead team migrate/);
    expect(await here.run("team", "migrate")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/migrations? done/),
    });
    const again = await here.run("team", "migrate", "--json");
    expect(JSON.parse(again.stdout)).toMatchObject({ schemaVersion: 1, migrations: 0 });
    const status = await here.run("team", "status");
    expect(status.stdout).toContain("0 replicas\npolicy: none was pushed");
  });

  test("pushes a policy after showing what would change, explains by it, and takes it back", async () => {
    await using here = await teamMachine();
    await here.write("project/policy.toml", policy);
    await here.write("project/stricter.toml", stricter);
    await here.run("team", "migrate");
    expect(await here.run("team", "policy", "push", "policy.toml")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("next: fairlead team policy push policy.toml --yes"),
    });
    expect(await here.run("team", "policy", "push", "policy.toml", "--yes")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("no decision would change: 0 requests since 7d"),
    });
    const store = await openStore();
    for (const [principal, groups] of [
      ["https://idp.example#ada", ["engineers"]],
      ["https://idp.example#bob", ["interns"]],
    ] as const) {
      await store.users.seen({ tenant: 1, principal, groups, issuedAt: 1 });
      for (let at = 0; at < 3; at += 1)
        await store.ledger.record({
          id: newRequestId(Date.now() - 60_000),
          owner: { tenant: 1, principal },
          replica: 1,
          kind: "tool",
          server: "github",
          tool: "merge",
          client: "claude",
          argsDigest: Buffer.from("d"),
          decision: "allow",
          rule: "a rule",
          mode: "default",
          outcome: at === 0 ? "tool_error" : "ok",
          durationMs: 12,
          configVersion: 1,
        });
    }
    await store.close();

    const dry = JSON.parse((await here.run("team", "policy", "push", "stricter.toml", "--dry-run", "--json")).stdout);
    expect(dry).toMatchObject({ pushed: false, dryRun: { requests: 6, changed: 3, unknown: 0 } });
    expect(dry.dryRun.changes).toMatchObject([
      { server: "github", tool: "merge", from: "allow", to: "ask leads", count: 3, users: 1 },
    ]);
    const pushed = await here.run("team", "policy", "push", "stricter.toml", "--yes");
    expect(pushed.stdout).toContain("3 of 6 requests since 7d would be decided differently");
    const [, version] = /pushed: version (\d+)/.exec(pushed.stdout) ?? [];
    const [, before] = /undo: fairlead team policy rollback (\d+)/.exec(pushed.stderr) ?? [];

    const explain = async (...more: readonly string[]) =>
      JSON.parse((await here.run("policy", "explain", "--team", "github.merge", "--json", ...more)).stdout);
    expect(await explain("--user", "https://idp.example#bob")).toMatchObject({
      decision: "ask_user",
      rule: { approver: "leads", origin: { file: `policy version ${version}`, line: 6 } },
    });
    expect(await explain("--user", "https://idp.example#ada")).toMatchObject({ decision: "allow" });
    expect(await explain("--user", "https://idp.example#ada", "--group", "interns")).toMatchObject({
      decision: "ask_user",
    });

    expect((await here.run("team", "policy", "show")).stdout).toBe(stricter);
    expect((await here.run("team", "policy", "show", before ?? "")).stdout).toBe(policy);
    const back = JSON.parse((await here.run("team", "policy", "rollback", before ?? "", "--yes", "--json")).stdout);
    expect(back).toMatchObject({ pushed: true, dryRun: { changed: 3 } });
    const { versions } = JSON.parse((await here.run("team", "policy", "list", "--json")).stdout);
    expect(versions.map((each: { version: number }) => each.version)).toEqual([
      Number(before),
      Number(version),
      back.version,
    ]);
    expect(versions[0].author).toMatch(/^operator:root@/);
    expect((await here.run("team", "policy", "list")).stdout).toContain("operator:root@");

    await here.write("project/broken.toml", '[[rule]]\ndecision = "alow"\npriority = 1\n');
    const broken = await here.run("team", "policy", "push", "broken.toml", "--yes");
    expect(broken).toMatchObject({ code: 3 });
    expect(broken.stderr).toContain("line 2");
    expect((await here.run("team", "policy", "show")).stdout).toBe(policy);

    const audit = (...more: readonly string[]) => here.run("team", "audit", ...more);
    const lines = (await audit("--server", "github", "--json", "--outcome", "tool_error")).stdout.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { schemaVersion: 1, user: expect.stringContaining("idp.example"), tool: "merge", outcome: "tool_error" },
      { schemaVersion: 1 },
    ]);
    const page = await audit("--user", "https://idp.example#ada", "--limit", "2");
    expect(page.stdout.trim().split("\n")).toHaveLength(3);
    const [, cursor] = /--before (\S+)/.exec(page.stderr) ?? [];
    const rest = await audit("--user", "https://idp.example#ada", "--limit", "2", "--before", cursor ?? "");
    expect(rest.stdout.trim().split("\n")).toHaveLength(2);
    expect((await audit("--admin", "--json")).stdout.trim().split("\n")).toHaveLength(3);
    for (const wrong of [
      ["--limit", "0"],
      ["--before", "x"],
      ["--trace", "1"],
      ["--since", "soon"],
      ["--tenant", "0"],
    ])
      expect(await audit(...wrong)).toMatchObject({ code: 2 });
    const status = JSON.parse((await here.run("team", "status", "--json")).stdout);
    expect(status).toMatchObject({ replicas: [], questions: 0, policy: { version: back.version } });
    expect(status.policy.body).toBeUndefined();
    expect((await here.run("team", "status")).stdout).toContain("github: 6 (2 tool_error)");
  });

  test("makes, lists and revokes keys, and revokes a user", async () => {
    await using here = await teamMachine();
    await here.run("team", "migrate");
    const made = await here.run("team", "keys", "add", "ci", "--scope", "mcp:read", "--expires", "90d");
    expect(made.stdout).toMatch(/^fl_[0-9a-f]{16}_[\w-]{43}\n$/);
    expect(made.stderr).toContain("shown once");
    const theirs = await here.run("team", "keys", "add", "https://idp.example#ada", "--json");
    const { id, key } = JSON.parse(theirs.stdout);
    const { keys: listed } = JSON.parse((await here.run("team", "keys", "list", "--json")).stdout);
    expect(listed).toMatchObject([
      { owner: "ci", role: "user", scopes: ["mcp:read"], networks: [] },
      { owner: "https://idp.example#ada", scopes: ["mcp:call"] },
    ]);
    expect((await here.run("team", "keys", "list")).stdout).not.toContain(key.slice(-43));
    expect(await here.run("team", "revoke", "https://idp.example#ada")).toMatchObject({ code: 2 });
    const gone = await here.run("team", "revoke", "https://idp.example#ada", "--yes");
    expect(gone.stdout).toBe("revoked: tokens, 1 API key, 0 sign-ins of https://idp.example#ada\n");
    expect(await here.run("team", "keys", "revoke", id)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("no API key"),
    });
    expect(await here.run("team", "keys", "revoke", listed[0].id)).toMatchObject({ code: 0 });
    expect((await here.run("team", "keys", "list")).stderr).toContain("no API keys");
    for (const wrong of [
      ["--role", "root"],
      ["--scope", "all"],
      ["--network", "here"],
      ["--expires", "soon"],
    ])
      expect(await here.run("team", "keys", "add", "ci", ...wrong)).toMatchObject({ code: 2 });
  });
});
