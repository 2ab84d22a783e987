import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Machine, machine, projectFile, userFile } from "../../support/machine.ts";

const rules = "home/.gemini/policies/fairlead.toml";

async function decisionOf(here: Machine, tool: string, ...words: readonly string[]): Promise<unknown> {
  const { code, stdout } = await here.run("policy", "explain", tool, "--json", ...words);
  expect(code).toBe(0);
  return JSON.parse(stdout).decision;
}

test("policy list shows when an approval was saved, in local time or in UTC", async () => {
  const approval = {
    server: "s",
    tool: "t",
    digest: "d".repeat(64),
    fingerprint: "f",
    approvedAt: "2026-01-31T08:30:05.123Z",
  };
  await using here = await machine({
    "home/.fairlead/approvals.json": { version: 2, workspaces: {}, tools: [approval] },
  });
  const local = (await here.run("policy", "list")).stdout;
  expect(local).toMatch(/\n {2}s\.t {2}approved 2026-0[12]-[03]\d \d\d:\d\d:05 {2}d{12}\n/);
  expect((await here.run("policy", "list", "--utc")).stdout).toContain(
    "  s.t  approved 2026-01-31T08:30:05Z  dddddddddddd\n",
  );
});

describe("policy allow, ask, deny", () => {
  test.each([
    ["allow", "allow"],
    ["ask", "ask_user"],
    ["deny", "deny"],
  ])("%s writes a rule that decides", async (word, decision) => {
    await using here = await machine();
    const { code, stdout } = await here.run("policy", word, "demo.greet");
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `${word} demo.greet: written to ${join(here.path, rules)}:3\n`,
    });
    expect(await decisionOf(here, "demo.greet")).toBe(decision);
    expect(await decisionOf(here, "demo.count")).toBe("ask_user");
  });

  test("a second word replaces the first, and the line that takes it back works", async () => {
    await using here = await machine();
    await here.run("policy", "deny", "demo.greet");
    const before = await here.read(rules);
    const { stdout, stderr } = await here.run("policy", "ask", "demo.greet");
    expect(stdout).toMatch(/^ask demo\.greet: written to .*:3 \(was deny\)\n$/);
    expect(stderr).toBe("undo: fairlead policy deny demo.greet\n");
    await here.run("policy", "deny", "demo.greet");
    expect(await here.read(rules)).toBe(before);
    expect((await here.run("policy", "deny", "demo.greet")).stdout).toMatch(/: already in /);
  });

  test("the undo line names the same call", async () => {
    await using here = await machine();
    const call = ["--server", "demo", "--tool", "greet", "--args-pattern", '"a b"'] as const;
    await here.run("policy", "ask", ...call);
    expect((await here.run("policy", "allow", ...call)).stderr).toBe(
      `undo: fairlead policy ask --server demo --tool greet --args-pattern '"a b"'\n`,
    );
  });

  test("a rule for one client decides about its requests alone, and can be listed, explained and removed", async () => {
    await using here = await machine();
    const { stdout, stderr } = await here.run("policy", "allow", "demo.greet", "--client", "codex");
    expect(stdout).toMatch(/^allow demo\.greet for client codex: written to .*:3\n$/);
    expect(stderr).toMatch(/^note: Gemini CLI also reads this file. It ignores the key "client", .*\n/);
    expect(stderr).toMatch(/undo: fairlead policy remove demo\.greet --client codex\n$/);
    expect(await here.read(rules)).toContain('client = "codex"\ndecision = "allow"\npriority = 250\n');
    expect(await decisionOf(here, "demo.greet")).toBe("ask_user");
    expect(await decisionOf(here, "demo.greet", "--client", "codex")).toBe("allow");
    expect(await decisionOf(here, "demo.greet", "--client", "claude-code")).toBe("ask_user");
    expect((await here.run("policy", "list")).stdout).toMatch(/allow +demo\.greet, client codex +250/);
    await here.run("policy", "deny", "demo.greet");
    expect(await decisionOf(here, "demo.greet", "--client", "codex")).toBe("allow");
    const removed = await here.run("policy", "remove", "demo.greet", "--client", "codex");
    expect(removed.stdout).toMatch(/^removed allow demo\.greet for client codex from /);
    expect(removed.stderr).toContain("undo: fairlead policy allow demo.greet --client codex");
    expect(await decisionOf(here, "demo.greet", "--client", "codex")).toBe("deny");
  });

  test("rules for a user and for a group decide about them alone; the one for fewer senders is stronger", async () => {
    await using here = await machine();
    const [ada, bob] = ["https://idp.example#ada", "https://idp.example#bob"];
    const written = await here.run("policy", "deny", "demo.greet", "--group", "interns");
    expect(written.stdout).toMatch(/^deny demo\.greet for group interns: written to .*:3\n$/);
    expect(written.stderr).toContain('It ignores the key "group"');
    await here.run("policy", "allow", "demo.greet", "--user", ada, "--group", "interns");
    expect(await here.read(rules)).toContain(
      `user = "${ada}"\ngroup = "interns"\ndecision = "allow"\npriority = 240\n`,
    );
    expect(await decisionOf(here, "demo.greet")).toBe("ask_user");
    expect(await decisionOf(here, "demo.greet", "--group", "interns")).toBe("deny");
    expect(await decisionOf(here, "demo.greet", "--user", bob, "--group", "interns")).toBe("deny");
    expect(await decisionOf(here, "demo.greet", "--user", ada, "--group", "interns")).toBe("allow");
    expect(await decisionOf(here, "demo.greet", "--user", ada)).toBe("ask_user");
    expect((await here.run("policy", "list")).stdout).toContain(`demo.greet, user ${ada}, group interns`);
    const removed = await here.run("policy", "remove", "demo.greet", "--user", ada, "--group", "interns");
    expect(removed.stdout).toContain(`removed allow demo.greet for user ${ada}, group interns from `);
    expect(removed.stderr).toContain(`undo: fairlead policy allow demo.greet --user '${ada}' --group interns`);
    expect(await decisionOf(here, "demo.greet", "--user", ada, "--group", "interns")).toBe("deny");
    expect(await here.run("policy", "allow", "demo.greet", "--group", "")).toMatchObject({ code: 2 });
  });

  test("a whole server and one of its tools, in any order", async () => {
    await using here = await machine();
    await here.run("policy", "allow", "demo.greet");
    const { stderr } = await here.run("policy", "deny", "demo.*");
    expect(stderr).toMatch(/^note: for demo\.greet a stronger rule decides: a rule in .*:3 allows it\n/);
    expect([await decisionOf(here, "demo.greet"), await decisionOf(here, "demo.count")]).toEqual(["allow", "deny"]);
  });

  test("a rule about some arguments is above one about all, and both sides say so", async () => {
    await using here = await machine();
    await here.run("policy", "allow", "demo.greet", "--args-pattern", '"name":"Ada"');
    const { stderr } = await here.run("policy", "deny", "demo.greet");
    expect(stderr).toMatch(/^note: for demo\.greet with some arguments a stronger rule decides: a rule in .*:3 allows/);
    const decisions = ['{"name":"Ada"}', '{"name":"Eve"}'].map((args) =>
      decisionOf(here, "demo.greet", "--args", args),
    );
    expect(await Promise.all(decisions)).toEqual(["allow", "deny"]);
  });

  test("what a stronger rule says is told: the settings', and the administrator's", async () => {
    await using here = await machine({
      [userFile]: { fairlead: { permissions: { denyTools: ["greet"] } } },
      "etc/policies/all.toml": '[[rule]]\nmcpName = "demo"\ndecision = "deny"\npriority = 1\n',
    });
    const { code, stderr } = await here.run("policy", "allow", "demo.*");
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^note: for demo\.greet a stronger rule decides: .*denyTools in .*settings\.json:\d+ denies it$/m,
    );
    expect(stderr).toMatch(/^note: for demo\.count a stronger rule decides: a rule in .*all\.toml:1 denies it$/m);
    expect(stderr).toMatch(
      /^note: stronger rules also decide for 1 other tool; to see the rules: fairlead policy list$/m,
    );
  });

  test("a stronger rule about a prompt is told if the prompt is named", async () => {
    await using here = await machine({
      "etc/policies/all.toml": '[[rule]]\nmcpName = "demo"\ndecision = "deny"\npriority = 1\n',
    });
    const named = await here.run("policy", "allow", "--kind", "prompt", "demo.teach");
    expect(named.stderr).toMatch(/^note: for demo\.teach a stronger rule decides: a rule in .*all\.toml:1 denies it$/m);
    const all = await here.run("policy", "allow", "--kind", "prompt", "demo");
    expect(all.stderr).not.toContain("a stronger rule decides");
  });

  test("comments and rules of others stay byte for byte", async () => {
    const mine = `# mine\n[[rule]]   # note\nmcpName = "x"\ndecision = "deny" # really\npriority = 7`;
    await using here = await machine({ [rules]: mine });
    await here.run("policy", "deny", "demo.greet");
    expect((await here.read(rules)).startsWith(`${mine}\n\n[[rule]]\n`)).toBe(true);
  });

  test("--json", async () => {
    await using here = await machine();
    const { stdout } = await here.run("policy", "deny", "demo.greet", "--json");
    expect(JSON.parse(stdout)).toEqual({
      schemaVersion: 1,
      server: "demo",
      tool: "greet",
      decision: "deny",
      file: join(here.path, rules),
      line: 3,
      overruled: [],
    });
  });
});

describe("whom a rule is about", () => {
  test("a server that is not there is taken for a typing mistake, unless it is named in full", async () => {
    await using here = await machine();
    const { code, stderr } = await here.run("policy", "deny", "demmo.greet");
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /there is no server "demmo"; did you mean "demo"\?\n {2}next: .* --server demmo --tool TOOL/,
    );
    const named = await here.run("policy", "deny", "--server", "later", "--tool", "x");
    expect(named).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('note: no server "later" is configured here yet'),
    });
    expect(await decisionOf(here, "later.x")).toBe("deny");
  });

  test("a tool that is not there is pointed out", async () => {
    await using here = await machine();
    expect(await here.run("policy", "deny", "demo.gret")).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('note: "demo" has no tool "gret" in its cached catalog'),
    });
  });

  test.each([
    ["demo.gr*", "demo.greet"],
    ["*.greet", "demo.greet"],
    ["d?mo.greet", "demo.greet"],
  ])("the pattern %s is about %s", async (pattern, tool) => {
    await using here = await machine();
    await here.run("policy", "deny", pattern);
    expect([await decisionOf(here, tool), await decisionOf(here, "demo.count")]).toEqual(["deny", "ask_user"]);
  });

  test.each(["a_b", "a__b", "a.b", "two words", "a*b", "a?", "\\", "__proto__", "n".repeat(200)])(
    "the server %j, and no other",
    async (name) => {
      await using here = await machine({
        [userFile]: { mcpServers: Object.fromEntries([[name, { command: "x" }]]) },
      });
      expect(await here.run("policy", "allow", `${name}.t`)).toMatchObject({ code: 0 });
      const others = ["a", "a_", "axb", "ab", "b", `${name}x`].map((server) => ["--server", server, "--tool", "t"]);
      const ask = async (words: readonly string[]): Promise<unknown> =>
        JSON.parse((await here.run("policy", "explain", "--json", ...words)).stdout).decision;
      expect(await ask(["--server", name, "--tool", "t"])).toBe("allow");
      expect(new Set(await Promise.all(others.map(ask)))).toEqual(new Set(["ask_user"]));
    },
  );

  test.each([
    [["policy", "deny"], "the tool's name is missing"],
    [["policy", "deny", "demo"], "is not of the form server.tool"],
    [["policy", "deny", "--server", "demo"], "--server and --tool must be given together"],
    [["policy", "deny", "--kind", "prompt", "--tool", "plan"], "--server and --tool must be given together"],
    [["policy", "deny", "demo.greet", "--args-pattern", "(?=x)"], "--args-pattern cannot be used"],
    [["policy", "explain", "demo.*"], '"demo.*" is a pattern: policy explain takes one tool'],
    [["policy", "explain", "demo.greet", "--args", "[]"], "--args must be a JSON object"],
    [["policy", "explain", "demo.greet", "--mode", "x"], "Allowed choices are default, plan, yolo"],
  ])("%j is a mistake in the command line", async (words, message) => {
    await using here = await machine();
    expect(await here.run(...words)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });
});

test("rules that a workspace plants change nothing while it is not trusted, and are never an allow", async () => {
  const planted = (decision: string): string =>
    `[[rule]]\nmcpName = "demo"\ntoolName = "greet"\ndecision = "${decision}"\npriority = 999\n`;
  await using here = await machine({ [projectFile]: {}, "project/.gemini/policies/x.toml": planted("deny") });
  expect(await decisionOf(here, "demo.greet")).toBe("ask_user");
  const { stderr } = await here.run("policy", "list");
  expect(stderr).toMatch(/^.*x\.toml ignored: the folder is not trusted\n$/);
  expect(await decisionOf(here, "demo.greet", "--trust-workspace")).toBe("deny");
  await here.write("project/.gemini/policies/x.toml", planted("allow"));
  expect(await decisionOf(here, "demo.greet", "--trust-workspace")).toBe("ask_user");
});
