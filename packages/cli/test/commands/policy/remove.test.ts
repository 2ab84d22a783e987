import { join } from "node:path";
import { saveToolApproval } from "@fairlead/core/policy/approvals";
import type { CatalogTool } from "@fairlead/core/server/catalog";
import { describe, expect, test } from "vitest";
import { type Machine, machine, projectFile } from "../../support/machine.ts";

const rules = "home/.gemini/policies/fairlead.toml";

async function decisionOf(here: Machine, ...words: readonly string[]): Promise<unknown> {
  const { stdout } = await here.run("policy", "explain", "--json", ...words);
  return (JSON.parse(stdout) as { decision: unknown }).decision;
}

test("the help names the rule that is removed", async () => {
  await using here = await machine();
  expect((await here.run("policy", "remove", "--help")).stdout).toMatch(/policy remove \[options\] \[rule\]$/m);
});

interface Raw {
  readonly servers: readonly { readonly tools: readonly CatalogTool[] }[];
}

describe("policy remove", () => {
  test("takes back a rule, says what decides now, and how to take that back", async () => {
    await using here = await machine();
    await here.run("policy", "allow", "demo.count");
    const before = await here.read(rules);
    expect((await here.run("policy", "deny", "demo.greet")).stderr).toBe("undo: fairlead policy remove demo.greet\n");
    expect(await here.run("policy", "remove", "demo.greet")).toEqual({
      code: 0,
      stdout: `removed deny demo.greet from ${join(here.path, rules)}:9\n`,
      stderr: "undo: fairlead policy deny demo.greet\nnow: ask: the default for tools asks about it\n",
    });
    expect(await here.read(rules)).toBe(before);
  });

  test.each([
    [["demo.*"]],
    [["--server", "later", "--tool", "x"]],
    [["demo.greet", "--args-pattern", '"loud":true']],
    [["--kind", "resource", "demo"]],
    [["--kind", "resource", "demo.demo://*"]],
    [["--kind", "prompt", "demo.review"]],
    [["--kind", "sampling", "demo"]],
  ])("%j is removed with the words that wrote it, and the undo line writes it again", async (words) => {
    await using here = await machine();
    await here.run("policy", "allow", ...words);
    const written = await here.read(rules);
    const { code, stderr } = await here.run("policy", "remove", ...words);
    expect(code).toBe(0);
    expect(await here.read(rules)).not.toContain("[[rule]]");
    const [, line = ""] = /^undo: fairlead (.*)$/m.exec(stderr) ?? [];
    const undo = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
    await here.run(...undo);
    expect(await here.read(rules)).toBe(written);
  });

  test("by file and line, also a rule with a mistake, by any of its lines", async () => {
    const own = "home/.gemini/policies/own.toml";
    await using here = await machine({ [own]: '[[rule]]\nmcpName = "demo"\ndecision = "alow"\npriority = 1\n' });
    const { stdout } = await here.run("policy", "remove", `${join(here.path, own)}:3`, "--json");
    const rule = { file: join(here.path, own), line: 1, mcpName: "demo", decision: "alow", priority: 1 };
    expect(JSON.parse(stdout)).toEqual({ schemaVersion: 1, removed: [rule], approvals: 0 });
    expect(await here.read(own)).toBe("");
  });

  test("the saved approval of a tool goes too", async () => {
    await using here = await machine();
    const state = join(here.home, ".fairlead");
    const tool = { name: "greet", inputSchema: { type: "object" } } as const;
    await saveToolApproval(state, { server: "demo", fingerprint: "f" }, tool, new Date(0));
    await saveToolApproval(state, { server: "demo", fingerprint: "f" }, { ...tool, name: "count" }, new Date(0));
    expect((await here.run("policy", "remove", "demo.greet")).stdout).toBe("removed the saved approval\n");
    const { approvals } = JSON.parse((await here.run("policy", "list", "--json")).stdout);
    expect(approvals).toMatchObject([{ tool: "count" }]);
  });

  test("always for one client is listed with the client, explained for it, and removed with --client", async () => {
    await using here = await machine();
    const state = join(here.home, ".fairlead");
    const { servers } = JSON.parse((await here.run("tools", "demo", "--raw", "--json")).stdout) as Raw;
    const tool = servers[0]?.tools.find(({ name }) => name === "greet");
    if (tool === undefined) throw new Error("the demo server has no tool greet");
    await saveToolApproval(state, { server: "demo", fingerprint: "demo", client: "claude-code" }, tool, new Date(0));
    const explained = await here.run("policy", "explain", "demo.greet", "--client", "claude-code");
    expect(explained.stdout).toContain("because  your saved approval for client claude-code allows it");
    expect((await here.run("policy", "explain", "demo.greet", "--client", "codex")).stdout).toContain(
      "demo.greet: ask",
    );
    expect((await here.run("policy", "explain", "demo.greet")).stdout).toContain("demo.greet: ask");
    expect((await here.run("policy", "list", "--utc")).stdout).toContain("  demo.greet, client claude-code  approved ");
    expect(await here.run("policy", "remove", "demo.greet")).toMatchObject({ code: 2 });
    expect((await here.run("policy", "remove", "demo.greet", "--client", "claude-code")).stdout).toBe(
      "removed the saved approval\n",
    );
  });

  test("a wider rule is named, not removed", async () => {
    await using here = await machine();
    await here.run("policy", "deny", "demo.*");
    const { code, stderr } = await here.run("policy", "remove", "demo.greet");
    const place = `${join(here.path, rules)}:3`;
    expect([code, stderr]).toEqual([
      2,
      `fairlead: you have no rule for demo.greet alone: the rule in ${place} also covers other names\n  next: fairlead policy remove ${place}\n`,
    ]);
    expect(await decisionOf(here, "demo.greet")).toBe("deny");
  });

  test.each([
    [["demo.greet"], "you have no rule for demo.greet\n  next: fairlead policy list"],
    [["fairlead.toml:1"], "fairlead.toml:1 has no [[rule]] there"],
    [["/etc/hosts.toml:1"], "is not one of your policy files"],
    [[], "the tool's name is missing"],
  ])("%j: nothing to remove", async (words, message) => {
    await using here = await machine();
    expect(await here.run("policy", "remove", ...words)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(message),
    });
  });

  test("rules of the workspace stay in its file", async () => {
    const theirs = "project/.gemini/policies/x.toml";
    const text = '[[rule]]\nmcpName = "demo"\ntoolName = "greet"\ndecision = "deny"\npriority = 1\n';
    await using here = await machine({ [projectFile]: {}, [theirs]: text });
    const place = `${join(here.path, theirs)}:1`;
    expect(await here.run("policy", "remove", "demo.greet", "--trust-workspace")).toMatchObject({ code: 2 });
    expect(await here.run("policy", "remove", place, "--trust-workspace")).toMatchObject({ code: 2 });
    expect(await here.read(theirs)).toBe(text);
  });
});

describe("--kind", () => {
  test("a rule about resources is none about tools or prompts, and the other way round", async () => {
    await using here = await machine();
    await here.run("policy", "deny", "--kind", "resource", "demo.demo://kn*");
    const uris = ["demo.demo://knots/reef", "demo.demo://about"];
    const decisions = uris.map((uri) => decisionOf(here, "--kind", "resource", uri));
    expect(await Promise.all(decisions)).toEqual(["deny", "ask_user"]);
    await here.run("policy", "allow", "--kind", "resource", "demo");
    await here.run("policy", "deny", "demo.*");
    const others = [
      decisionOf(here, "--kind", "resource", "demo.demo://about"),
      decisionOf(here, "demo.greet"),
      decisionOf(here, "--kind", "prompt", "demo.review"),
      decisionOf(here, "--kind", "sampling", "demo"),
    ];
    expect(await Promise.all(others)).toEqual(["allow", "deny", "allow", "ask_user"]);
    expect((await here.run("policy", "list")).stdout).toMatch(/allow {2}resources of demo .*\n/);
  });

  test("Gemini CLI ignores the kind: a rule that would be about tools there is pointed out", async () => {
    await using here = await machine();
    const note = "note: Gemini CLI also reads this file";
    expect((await here.run("policy", "allow", "--kind", "sampling", "demo")).stderr).toContain(note);
    expect((await here.run("policy", "allow", "--kind", "resource", "demo")).stderr).not.toContain(note);
    expect(await here.read(rules)).toContain('toolName = "*:*"\nkind = "resource"\n');
  });

  test.each([
    [["allow", "--kind", "tols", "demo"], "Allowed choices are tool, resource, prompt, sampling"],
    [["allow", "--kind", "sampling", "demo.greet"], '--kind sampling takes a server, not "demo.greet"'],
    [["allow", "--kind", "prompt"], "no server is given"],
    [["allow", "--kind", "prompt", "dmo.x"], 'there is no server "dmo"; did you mean "demo"?'],
    [["explain", "--kind", "resource", "demo"], "no resource is named"],
  ])("%j is a mistake in the command line", async (words, message) => {
    await using here = await machine();
    expect(await here.run("policy", ...words)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });
});
