import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { removeRules, writeRule } from "../../../src/policy/rules/write-rule.ts";

const file = "policies/mine.toml";

const mine = `# mine, at the top
  [[rule]]   # odd spacing
mcpName = 'git'
toolName = "push"
decision = "ask_user"  # because of the incident

# about pulls
[[rule]]
mcpName = "git"
toolName = "pull"
# inside
decision = "allow"
[rule.annotations]
readOnlyHint = true

[[safety_checker]]
x = 1

[[rule]]
mcpName = "hub"
decision = "deny"`;

describe("the lines of a rule go, everything else stays byte for byte", () => {
  test.each([
    ["the first", 2, mine.slice(0, mine.indexOf("  [[rule]]")) + mine.slice(mine.indexOf("\n# about"))],
    [
      "one with a table of its own",
      8,
      mine.slice(0, mine.indexOf('[[rule]]\nmcpName = "git"')) + mine.slice(mine.indexOf("\n[[safety")),
    ],
    ["the last", 19, mine.slice(0, mine.indexOf('\n[[rule]]\nmcpName = "hub"'))],
  ])("%s", async (_, line, left) => {
    await using home = await temporaryFolder();
    await home.write(file, mine);
    const removed = await removeRules(join(home.path, file), (rule) => rule.line === line);
    expect(removed.map((rule) => rule.line)).toEqual([line]);
    expect(await home.read(file)).toBe(left);
  });

  test("several at once, and the members that they had", async () => {
    await using home = await temporaryFolder();
    await home.write(file, mine);
    const removed = await removeRules(join(home.path, file), ({ value }) => value("mcpName") === "git");
    expect(removed.map(({ members }) => members)).toEqual([
      { mcpName: "git", toolName: "push", decision: "ask_user" },
      { mcpName: "git", toolName: "pull", decision: "allow", annotations: true },
    ]);
    expect(await home.read(file)).toBe(
      '# mine, at the top\n\n# about pulls\n\n[[safety_checker]]\nx = 1\n\n[[rule]]\nmcpName = "hub"\ndecision = "deny"',
    );
  });

  test.each(["\n", "\r\n"])("a rule that was added and removed leaves no trace, with %j", async (eol) => {
    await using home = await temporaryFolder();
    const before = `\uFEFF# a${eol}${eol}[[rule]]${eol}mcpName = "a"${eol}decision = "deny"${eol}`;
    await home.write(file, before);
    const path = join(home.path, file);
    const { line } = await writeRule(path, { server: "b", tool: "c", kind: "prompt", decision: "deny" });
    await removeRules(path, (rule) => rule.line === line);
    expect(await home.read(file)).toBe(before);
  });

  test("the first of two leaves no empty line at the top", async () => {
    await using home = await temporaryFolder();
    await home.write(file, '[[rule]]\nmcpName = "a"\n\n[[rule]]\nmcpName = "b"\n');
    await removeRules(join(home.path, file), (rule) => rule.line === 1);
    expect(await home.read(file)).toBe('[[rule]]\nmcpName = "b"\n');
  });
});

test("a file that is not there has no rules; one that is not valid TOML is not touched", async () => {
  await using home = await temporaryFolder();
  expect(await removeRules(join(home.path, file), () => true)).toEqual([]);
  await home.write(file, "[[rule]]\nmcpName = \n");
  await expect(removeRules(join(home.path, file), () => true)).rejects.toMatchObject({ code: "settings_invalid" });
  expect(await home.read(file)).toBe("[[rule]]\nmcpName = \n");
});
