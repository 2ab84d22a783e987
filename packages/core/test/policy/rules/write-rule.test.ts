import { chmod, stat } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { parse } from "smol-toml";
import { describe, expect, test } from "vitest";
import { userRuleFile, writeRule } from "../../../src/policy/rules/write-rule.ts";

const file = ".gemini/policies/fairlead.toml";

test("the first rule makes the file, for its owner alone, and says where it stands", async () => {
  await using home = await temporaryFolder();
  const user = join(home.path, ".gemini", "policies");
  const path = userRuleFile({ policies: { administrator: "/nowhere", user, workspace: undefined } });
  expect(path).toBe(join(home.path, file));
  expect(await writeRule(path, { server: "git", tool: "push", decision: "deny" })).toEqual({ file: path, line: 3 });
  expect(await home.read(file)).toBe(
    `# Rules about MCP servers, written by "fairlead policy allow|deny|ask" and editable by hand. fairlead policy list shows the rules in force.

[[rule]]
mcpName = "git"
toolName = "push"
decision = "deny"
priority = 200
`,
  );
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

describe("the narrower a rule, the higher its priority", () => {
  test.each([
    [
      { server: "git", tool: "*" },
      { mcpName: "git", toolName: "*", priority: 100 },
    ],
    [
      { server: "git", tool: "push" },
      { mcpName: "git", toolName: "push", priority: 200 },
    ],
    [
      { server: "git", tool: "*", client: "codex" },
      { mcpName: "git", toolName: "*", client: "codex", priority: 150 },
    ],
    [
      { server: "*", tool: "*", client: "goose", readOnly: true },
      { mcpName: "*", toolName: "*", client: "goose", annotations: { readOnlyHint: true }, priority: 150 },
    ],
    [
      { server: "git", tool: "push", argsPattern: "main" },
      { mcpName: "git", toolName: "push", argsPattern: "main", priority: 300 },
    ],
  ])("%j", async (rule, expected) => {
    await using home = await temporaryFolder();
    await writeRule(join(home.path, file), { ...rule, decision: "ask_user" });
    expect(parse(await home.read(file))).toEqual({ rule: [{ ...expected, decision: "ask_user" }] });
  });
});

test("a rule for tools that only read stands beside the rule for all tools, and each is changed alone", async () => {
  await using home = await temporaryFolder();
  const path = join(home.path, file);
  const about = { server: "git", tool: "*" };
  await writeRule(path, { ...about, decision: "ask_user" });
  await writeRule(path, { ...about, readOnly: true, decision: "allow" });
  expect(await writeRule(path, { ...about, decision: "deny" })).toMatchObject({ replaced: "ask_user" });
  expect(await writeRule(path, { ...about, readOnly: true, decision: "ask_user" })).toMatchObject({
    replaced: "allow",
  });
  expect(parse(await home.read(file))).toMatchObject({
    rule: [{ decision: "deny" }, { decision: "ask_user", annotations: { readOnlyHint: true } }],
  });
});

const foreign = `# mine, at the top
  [[rule]]   # odd   spacing
mcpName   =  'git'     # single quotes
toolName = "push"
decision = "ask_user"  # because of the incident
priority = 999

[[rule]]
mcpName = "git"
toolName = "push"
decision = "allow"
priority = 5
[rule.annotations]
readOnlyHint = true

[[rule]]
toolName = "run_shell_command"
commandPrefix = "ls"
decision = "allow"
priority = 1
# the end, without a line break`;

describe("a file that the user has edited", () => {
  test("a second word about the same changes the decision and not one byte more", async () => {
    await using home = await temporaryFolder();
    await home.write(file, foreign);
    const path = join(home.path, file);
    expect(await writeRule(path, { server: "git", tool: "push", decision: "deny" })).toEqual({
      file: path,
      line: 2,
      replaced: "ask_user",
    });
    expect(await home.read(file)).toBe(foreign.replace('"ask_user"', '"deny"'));
  });

  test.each([
    ["another tool", { server: "git", tool: "pull" }],
    ["all of the server", { server: "git", tool: "*" }],
    ["the same with arguments", { server: "git", tool: "push", argsPattern: "x" }],
    ["another server", { server: "hub", tool: "push" }],
  ])("%s is a rule of its own, behind the others", async (_, rule) => {
    await using home = await temporaryFolder();
    await home.write(file, foreign);
    const { line } = await writeRule(join(home.path, file), { ...rule, decision: "deny" });
    const text = await home.read(file);
    expect(text.startsWith(`${foreign}\n\n[[rule]]\n`)).toBe(true);
    expect(text.split("\n")[line - 1]).toBe("[[rule]]");
    expect(parse(text)["rule"]).toHaveLength(4);
  });

  test("a rule that says why it denies is the same rule, and keeps its words", async () => {
    await using home = await temporaryFolder();
    const own = `[[rule]]\nmcpName = "git"\ntoolName = "push"\ndecision = "deny"\ndenyMessage = "No."\npriority = 200\n`;
    await home.write(file, own);
    const rule = { server: "git", tool: "push", decision: "allow" } as const;
    expect(await writeRule(join(home.path, file), rule)).toMatchObject({ line: 1, replaced: "deny" });
    expect(await home.read(file)).toBe(own.replace('"deny"', '"allow"'));
  });

  test("every rule about the same says the same afterwards, however it was written", async () => {
    await using home = await temporaryFolder();
    const twice = `[[rule]]\nmcpName = "s"\ntoolName = "*"\ndecision = "deny"\n\n[[rule]]\nmcpName = "s"\ntoolName = '*'\ndecision = """ask_user"""\n`;
    await home.write(file, twice);
    await writeRule(join(home.path, file), { server: "s", tool: "*", decision: "allow" });
    expect(await home.read(file)).toBe(twice.replace('"deny"', '"allow"').replace('"""ask_user"""', '"allow"'));
  });

  test.each([
    ["\n", ""],
    ["\r\n", ""],
    ["\n", "\uFEFF"],
  ])("line breaks %j and mark %j stay", async (eol, mark) => {
    await using home = await temporaryFolder();
    const before = `${mark}# a${eol}${eol}[[rule]]${eol}mcpName = "a"${eol}decision = "deny"${eol}`;
    await home.write(file, before);
    const { line } = await writeRule(join(home.path, file), { server: "b", tool: "c", decision: "deny" });
    const added = ["[[rule]]", 'mcpName = "b"', 'toolName = "c"', 'decision = "deny"', "priority = 200", ""];
    expect([await home.read(file), line]).toEqual([`${before}${eol}${added.join(eol)}`, 7]);
  });

  test("the same again writes nothing", async () => {
    await using home = await temporaryFolder();
    await home.write(file, foreign);
    await chmod(join(home.path, file), 0o400);
    const rule = { server: "git", tool: "push", decision: "ask_user" } as const;
    expect(await writeRule(join(home.path, file), rule)).toMatchObject({ line: 2, replaced: "ask_user" });
  });

  test.each([
    ["a mistake in its syntax", "[[rule]]\nmcpName = \n", /:3: .*; the file was not changed/],
    ["rules in another form", 'rule = [{ mcpName = "x", decision = "deny" }]\n', /the file was not changed/],
  ])("%s: it is not touched", async (_, text, message) => {
    await using home = await temporaryFolder();
    await home.write(file, text);
    await expect(writeRule(join(home.path, file), { server: "s", tool: "*", decision: "deny" })).rejects.toMatchObject({
      code: "settings_invalid",
      message: expect.stringMatching(message),
    });
    expect(await home.read(file)).toBe(text);
  });
});

describe("names come back as they are", () => {
  const names = [
    "a_b__c.d",
    "two words",
    "__proto__",
    "constructor",
    'quo"te',
    "apos'trophe",
    `both'"`,
    "back\\slash",
    "line\nbreak\u0000\u007f\u0085",
    "\u202egnp.exe\u2028",
    "\u{e0041}\u{1f600}",
    "n".repeat(200),
  ];

  test.each(names)("%j", async (name) => {
    await using home = await temporaryFolder();
    const rule = { server: name, tool: name, argsPattern: name, decision: "deny" } as const;
    await writeRule(join(home.path, file), rule);
    const text = await home.read(file);
    expect(parse(text)).toMatchObject({ rule: [{ mcpName: name, toolName: name, argsPattern: name }] });
    expect(text.replaceAll("\n", "")).not.toMatch(/\p{C}|(?! )\p{Z}/u);
    expect(await writeRule(join(home.path, file), rule)).toMatchObject({ replaced: "deny" });
  });

  test("as long as is read can be named", async () => {
    await using home = await temporaryFolder();
    const server = "n".repeat(1000);
    await writeRule(join(home.path, file), { server, tool: "t", decision: "deny" });
    expect(parse(await home.read(file))).toMatchObject({ rule: [{ mcpName: server }] });
  });

  test.each([
    ["half a character", "\ud800"],
    ["nothing", ""],
    ["more than is read", "n".repeat(1001)],
  ])("%s cannot be named", async (_, server) => {
    await using home = await temporaryFolder();
    await expect(writeRule(join(home.path, file), { server, tool: "t", decision: "deny" })).rejects.toMatchObject({
      code: "usage",
    });
  });
});

test("a file that would not be read any more is left as it is", async () => {
  await using home = await temporaryFolder();
  const before = `# ${"x".repeat(262_100)}\n`;
  await home.write(file, before);
  const tooMuch = writeRule(join(home.path, file), { server: "s", tool: "*", decision: "deny" });
  await expect(tooMuch).rejects.toMatchObject({ code: "too_large" });
  expect(await home.read(file)).toBe(before);
});

test("many at once: none is lost", async () => {
  await using home = await temporaryFolder();
  const tools = Array.from({ length: 20 }, (_, at) => `tool-${at}`);
  await Promise.all(tools.map((tool) => writeRule(join(home.path, file), { server: "s", tool, decision: "allow" })));
  const { rule = [] } = parse(await home.read(file)) as { rule?: { toolName: string }[] };
  expect(rule.map(({ toolName }) => toolName).sort()).toEqual(tools.sort());
});
