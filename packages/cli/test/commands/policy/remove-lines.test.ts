import { join } from "node:path";
import { saveToolApproval } from "@fairlead/core/policy/approvals";
import { describe, expect, test } from "vitest";
import { type Ending, type Machine, machine } from "../../support/machine.ts";

const own = "home/.gemini/policies/own.toml";

async function removed(here: Machine, ...words: readonly string[]): Promise<Ending> {
  const { code, stdout, stderr } = await here.run("policy", "remove", ...words);
  return { code, stdout: stdout.replaceAll(here.path, ""), stderr: stderr.replaceAll(here.path, "") };
}

const lines = (...members: readonly string[]): string => `[[rule]]\n${members.join("\n")}\n`;
const greet = ['mcpName = "demo"', 'toolName = "greet"'];

describe("a removed rule is named, and the undo line is left out if no command can write the rule", () => {
  const rules: readonly (readonly [rule: string, name: string, undo?: string])[] = [
    [lines(...greet, 'decision = "allow"', "priority = 200"), "allow demo.greet", "allow demo.greet"],
    [lines(...greet, 'decision = "ask_user"', "priority = 200"), "ask demo.greet", "ask demo.greet"],
    [lines(...greet, 'kind = "tool"', 'decision = "deny"', "priority = 200"), "deny demo.greet", "deny demo.greet"],
    [
      lines(...greet, 'kind = "prompt"', 'decision = "deny"', "priority = 200"),
      "deny prompt demo.greet",
      "deny --kind prompt demo.greet",
    ],
    [lines(...greet, 'kind = "nonsense"', 'decision = "deny"', "priority = 200"), "deny demo.greet", "deny demo.greet"],
    [
      lines('mcpName = "later"', 'toolName = "a b"', 'decision = "deny"', "priority = 200"),
      "deny later.a b",
      "deny --server later --tool 'a b'",
    ],
    [lines(...greet, 'decision = "deny"', "priority = 201"), "deny demo.greet"],
    [lines(...greet, 'decision = "deny"', "priority = 200", 'denyMessage = "no"'), "deny demo.greet"],
    [lines(...greet, 'decision = "alow"', "priority = 200"), "rule demo.greet"],
    [lines('mcpName = "demo"', 'toolName = ["a", "b"]', 'decision = "deny"', "priority = 200"), "deny demo.a|b"],
    [lines('mcpName = "demo"', 'decision = "deny"', "priority = 100"), "deny demo.*"],
    [lines('toolName = "greet"', 'decision = "deny"', "priority = 200"), "deny *.greet"],
    [lines('mcpName = "demo"', 'toolName = "a\\\\*"', 'decision = "deny"', "priority = 200"), "deny demo.a\\*"],
  ];
  test("for each kind of rule", async () => {
    await using here = await machine();
    for (const [rule, name, undo] of rules) {
      await here.write(own, rule);
      expect(await removed(here, `${join(here.path, own)}:1`), rule).toEqual({
        code: 0,
        stdout: `removed ${name} from /${own}:1\n`,
        stderr: undo === undefined ? "" : `undo: fairlead policy ${undo}\n`,
      });
    }
  });
});

test("the user names a rule by its first or its last line, not by a line beside it", async () => {
  const rule = lines(...greet, 'decision = "deny"', "priority = 200");
  await using here = await machine({ [own]: `# mine\n${rule}\n${rule}` });
  const file = join(here.path, own);
  const none = (line: number): Ending => ({
    code: 2,
    stdout: "",
    stderr: `fairlead: /${own}:${line} has no [[rule]] there\n  next: fairlead policy list\n`,
  });
  for (const line of [1, 7, 13]) expect(await removed(here, `${file}:${line}`)).toEqual(none(line));
  expect((await removed(here, `${file}:12:1`)).stdout).toBe(`removed deny demo.greet from /${own}:8\n`);
  expect((await removed(here, "own.toml:2")).stdout).toBe(`removed deny demo.greet from /${own}:2\n`);
  expect(await here.read(own)).toBe("# mine\n");
});

test("a file that is not one of the user's policy files is refused, and a missing policy file has no rule", async () => {
  await using here = await machine({ "project/other.toml": "", [own]: "" });
  const refused = (file: string): Ending => ({
    code: 2,
    stdout: "",
    stderr: `fairlead: ${file} is not one of your policy files: remove its rules by editing that file\n  next: edit ${file}\n`,
  });
  expect(await removed(here, "other.toml:1")).toEqual(refused("/project/other.toml"));
  expect(await removed(here, join(here.path, "home/.gemini/policies/no.toml:1"))).toMatchObject({
    stderr: "fairlead: /home/.gemini/policies/no.toml:1 has no [[rule]] there\n  next: fairlead policy list\n",
  });
});

test("a broken policy file is reported, and rules in the other files are removed", async () => {
  await using here = await machine({
    "home/.gemini/policies/bad.toml": "[[rule]]\nmcpName = \n",
    [own]: lines(...greet, 'decision = "deny"', "priority = 200"),
  });
  const bad = "/home/.gemini/policies/bad.toml";
  const problem = `${bad}:3:1: error: ${bad} is not valid TOML: Unspecified values are invalid
  next: Correct ${bad}. Until then its rules are unknown, so every request needs confirmation.
`;
  expect(await removed(here, "demo.greet")).toEqual({
    code: 0,
    stdout: `removed deny demo.greet from /${own}:1\n`,
    stderr: `${problem}undo: fairlead policy deny demo.greet\nnow: ask: ${bad}:3: the file is not valid TOML: Unspecified values are invalid, so every request needs confirmation\n`,
  });
  for (const word of ["explain", "allow"])
    expect((await here.run("policy", word, "demo.greet")).stderr.replaceAll(here.path, "")).toContain(problem);
});

describe("after a removal", () => {
  test("the user is told the decision for one tool, not for a pattern, and not beside a JSON document", async () => {
    await using here = await machine();
    await here.run("policy", "deny", "demo.*");
    expect((await removed(here, "demo.*")).stderr).toBe("undo: fairlead policy deny 'demo.*'\n");
    await here.run("policy", "deny", "demo.greet");
    expect((await removed(here, "demo.greet", "--json")).stderr).toBe("");
    await here.run("policy", "deny", "--kind", "sampling", "demo");
    expect((await removed(here, "--kind", "sampling", "demo")).stderr).not.toContain("now:");
  });

  test("the saved approval stays, if the rule is about a client, some arguments or a prompt", async () => {
    await using here = await machine();
    const tool = { name: "greet", inputSchema: { type: "object" } } as const;
    await saveToolApproval(join(here.home, ".fairlead"), { server: "demo", fingerprint: "f" }, tool, new Date(0));
    for (const words of [
      ["demo.greet", "--client", "codex"],
      ["demo.greet", "--args-pattern", "x"],
      ["--kind", "prompt", "demo.greet"],
    ])
      expect(await removed(here, ...words)).toMatchObject({ code: 2, stdout: "" });
    expect(await removed(here, "demo.greet", "--json")).toEqual({
      code: 0,
      stdout: '{\n  "schemaVersion": 1,\n  "removed": [],\n  "approvals": 1\n}\n',
      stderr: "",
    });
  });
});

test("the user is told the strongest of their own rules that also covers the tool, and none of the administrator's", async () => {
  await using here = await machine({
    "etc/policies/all.toml": lines('mcpName = "demo"', 'decision = "deny"', "priority = 1"),
    [own]: lines('mcpName = "demo"', 'decision = "ask_user"', "priority = 1"),
    "home/.gemini/policies/strong.toml": `\n${lines('toolName = "gr*"', 'decision = "deny"', "priority = 9")}`,
  });
  const refusal = (name: string, place: string): string =>
    `fairlead: you have no rule for ${name} alone: the rule in ${place} also covers other names\n  next: fairlead policy remove ${place}\n`;
  expect((await removed(here, "demo.greet")).stderr).toBe(
    refusal("demo.greet", "/home/.gemini/policies/strong.toml:2"),
  );
  expect((await removed(here, "--kind", "sampling", "demo")).stderr).toBe(refusal("sampling of demo", `/${own}:1`));
  await here.write(own, "");
  expect((await removed(here, "demo.count")).stderr).toBe(
    "fairlead: you have no rule for demo.count\n  next: fairlead policy list\n",
  );
});
