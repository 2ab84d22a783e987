import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lockText } from "@fairlead/core/policy";
import { stdioServer, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { consoleScene, ofType } from "./scene.ts";

const rules = [
  "[[rule]]",
  'mcpName = "good"',
  'toolName = "*"',
  'decision = "allow"',
  "priority = 100",
  "",
  "[[rule]]",
  'mcpName = "good"',
  'toolName = "echo"',
  'argsPattern = "secret"',
  'decision = "deny"',
  "priority = 300",
  "",
].join("\n");

test("the rules are listed with the place of each, and a decision is explained by all rules that match", async () => {
  await using scene = await consoleScene({ servers: { good: stdioServer("well-behaved") }, rules });
  await scene.host.start({ servers: ["good"] });
  const listed = await scene.run("policy/list", {});
  const file = join(scene.home, ".gemini/policies/user.toml");
  expect(listed.files).toEqual([{ file, tier: "user", state: "read" }]);
  expect(
    listed.rules.map(({ decision, tool, at, isRemovable }) => [decision, tool, at, isRemovable]).slice(0, 2),
  ).toEqual([
    ["deny", "echo", `${file}:7`, true],
    ["allow", "*", `${file}:1`, true],
  ]);
  expect(listed.rules.at(-1)).toMatchObject({ tier: "default", isRemovable: false });
  const allowed = await scene.run("policy/explain", { server: "good", tool: "echo", args: { text: "hello" } });
  expect(allowed).toMatchObject({ decision: "allow", because: `a rule in ${file}:1 allows it`, ruleAt: `${file}:1` });
  const denied = await scene.run("policy/explain", { server: "good", tool: "echo", args: { text: "secret" } });
  expect(denied.decision).toBe("deny");
  expect(denied.matching.map(({ decision }) => decision)).toEqual(["deny", "allow", "ask"]);
  const typed = await scene.run("tools/decide", { server: "good", tool: "echo", args: { text: 7 } });
  expect(typed).toMatchObject({ decision: "allow", problems: [{ pointer: "/text" }] });
});

test("a rule is previewed, written, found in the way of others, and removed", async () => {
  await using scene = await consoleScene({ servers: { good: stdioServer("well-behaved") } });
  await scene.host.start({ servers: ["good"] });
  const rule = { decision: "allow", server: "good", tool: "echo" } as const;
  const preview = await scene.run("policy/preview", rule);
  expect(preview).toEqual({ matching: 1, changes: [{ server: "good", tool: "echo", before: "ask", after: "allow" }] });
  const added = await scene.run("policy/add", rule);
  const file = join(scene.home, ".gemini/policies/fairlead.toml");
  expect(added.at.startsWith(`${file}:`)).toBe(true);
  await scene.event(ofType("policy"));
  expect(await readFile(file, "utf8")).toContain('toolName = "echo"');
  expect((await scene.run("policy/preview", rule)).changes).toEqual([]);
  const whole = await scene.run("policy/add", { decision: "deny", server: "good", tool: "*" });
  expect(whole.overruled).toMatchObject([{ server: "good", tool: "echo", rule: { decision: "allow" } }]);
  const { rules: written } = await scene.run("policy/list", {});
  const [mine] = written.filter(({ tool }) => tool === "echo");
  await scene.run("policy/remove", { id: mine?.id ?? "" });
  expect(await readFile(file, "utf8")).not.toContain('toolName = "echo"');
  await expect(scene.run("policy/remove", { id: mine?.id ?? "" })).rejects.toMatchObject({ code: "changed" });
  const builtIn = written.find(({ tier }) => tier === "default");
  await expect(scene.run("policy/remove", { id: builtIn?.id ?? "" })).rejects.toMatchObject({ code: "changed" });
  await expect(
    scene.run("policy/add", { decision: "deny", server: "good", tool: "echo", argsPattern: "(" }),
  ).rejects.toMatchObject({ code: "usage", message: expect.stringContaining("argsPattern") });
});

test("a name with a star is exact unless the person means a pattern", async () => {
  await using scene = await consoleScene({ servers: { good: stdioServer("well-behaved") } });
  await scene.host.start({ servers: ["good"] });
  const exact = await scene.run("policy/preview", { decision: "deny", server: "good", tool: "e*" });
  expect(exact.matching).toBe(0);
  const pattern = await scene.run("policy/preview", { decision: "deny", server: "good", tool: "e*", isPattern: true });
  expect(pattern.matching).toBeGreaterThan(0);
});

test("the lock file is compared with the workspace's servers without connecting any", async () => {
  await using scene = await consoleScene({
    servers: {},
    workspace: { mcpServers: { team: stdioServer("well-behaved") } },
    trust: true,
  });
  expect(await scene.run("changes/lock", {})).toMatchObject({ state: "none", servers: [] });
  await writeFile(join(scene.cwd, ".gemini/mcp.lock"), "{");
  expect(await scene.run("changes/lock", {})).toMatchObject({ state: "invalid" });
  const gone = { entry: { command: "x" }, version: "1.0.0", tools: new Map(), prompts: new Map() };
  await writeFile(join(scene.cwd, ".gemini/mcp.lock"), lockText(new Map([["gone", gone]])));
  const { state, servers } = await scene.run("changes/lock", {});
  expect([state, servers.map(({ server, state: each }) => [server, each])]).toEqual([
    "read",
    [
      ["team", "added"],
      ["gone", "removed"],
    ],
  ]);
  expect(await scene.run("changes/list", {})).toEqual({ servers: [] });
});

test("the budget sums what the tools of each server cost a model", async () => {
  await using scene = await consoleScene({ servers: { good: stdioServer("well-behaved") } });
  await scene.host.start({ servers: ["good"] });
  const { total, offered, servers } = await scene.run("budget/show", {});
  const good = servers.find(({ server }) => server === "good");
  expect(good?.tools.find(({ tool }) => tool === "echo")).toMatchObject({ isOffered: true });
  expect(good?.total).toBe(good?.tools.reduce((sum, { tokens }) => sum + tokens, 0));
  expect(total).toBe(servers.reduce((sum, server) => sum + server.total, 0));
  expect(offered).toBeLessThanOrEqual(total);
});

test("a skill is shown with its files, read, and accepted only as the person has seen it", async () => {
  await using folder = await temporaryFolder();
  const instructions = "---\nname: forms\ndescription: Works with forms\n---\nDo it.\n";
  const skill = { path: "forms", files: { "SKILL.md": instructions, "more.md": "More." } };
  await folder.write("skills.json", { skills: [skill] });
  await folder.write("diary", "");
  const entry = stdioServer("skills", join(folder.path, "skills.json"), join(folder.path, "diary"));
  await using scene = await consoleScene({ servers: { docs: entry } });
  await scene.host.start({ servers: ["docs"] });
  const { skills } = await scene.run("skills/list", {});
  expect(skills).toMatchObject([{ server: "docs", label: "forms", files: 2, isAccepted: false, decision: "ask" }]);
  const uri = skills[0]?.uri ?? "";
  const shown = await scene.run("skills/show", { server: "docs", uri });
  expect(shown.files.map(({ path }) => path).sort()).toEqual(["SKILL.md", "more.md"]);
  await expect(scene.run("skills/accept", { server: "docs", uri, digest: "0".repeat(64) })).rejects.toMatchObject({
    code: "changed",
  });
  await scene.run("skills/accept", { server: "docs", uri, digest: shown.digest ?? "" });
  expect((await scene.run("skills/list", {})).skills).toMatchObject([{ isAccepted: true, isChanged: false }]);
  await scene.run("calls/skill", { call: "read", server: "docs", uri, file: "more.md" });
  await scene.event(ofType("call", ({ call }) => call.id === "read" && call.state === "ok"));
  const { result } = await scene.run("calls/result", { call: "read" });
  expect(result).toMatchObject({ contents: [{ text: "More." }] });
  await folder.write("skills.json", {
    skills: [{ ...skill, files: { "SKILL.md": instructions, "more.md": "Else." } }],
  });
  await scene.host.refresh("docs");
  const changed = await scene.run("skills/show", { server: "docs", uri });
  expect(changed.skill).toMatchObject({ isChanged: true });
  expect(JSON.stringify(changed.change)).toContain("more.md");
});

test("recorded conversations are listed and shown as their events", async () => {
  const { createScriptedModel } = await import("@fairlead/core/model/scripted");
  await using scene = await consoleScene({ servers: {} });
  const answer = { role: "model", parts: [{ text: "Hello, Ada." }] };
  const model = createScriptedModel({ script: JSON.stringify(answer) });
  const conversation = scene.host.conversation({ model });
  for await (const _ of conversation.send("Hello."));
  await conversation.close();
  const { conversations } = await scene.run("conversations/list", {});
  expect(conversations).toMatchObject([{ firstWords: "Hello.", turns: 1, calls: 0 }]);
  const { id = "" } = conversations[0] ?? {};
  const { events, ...shown } = await scene.run("chat/show", { conversation: id });
  expect(shown).toMatchObject({ isOpen: false, isRunning: false, earlier: 0, recorded: conversations[0] });
  expect(events[0]).toMatchObject({ type: "input", text: "Hello." });
  const last = await scene.run("chat/show", { conversation: id, limit: 1 });
  expect([last.events, last.earlier]).toEqual([events.slice(-1), events.length - 1]);
});

test("a rule that is written in an editor, and one that another program writes, are told", async () => {
  await using scene = await consoleScene({ servers: {}, rules });
  await scene.run("policy/list", {});
  const file = join(scene.home, ".gemini/policies/user.toml");
  await writeFile(file, rules.replace("priority = 300", "priority = 400"));
  await scene.event(ofType("policy"));
  expect((await scene.run("policy/list", {})).rules[0]).toMatchObject({ tool: "echo", priority: 400 });
  scene.events.length = 0;
  await writeFile(join(scene.home, ".gemini/policies/other.toml"), "not TOML");
  await scene.event(ofType("policy"));
  expect(await scene.event(ofType("about", ({ about }) => about.problems.length > 0))).toMatchObject({
    about: { problems: [expect.stringContaining("other.toml")] },
  });
});
