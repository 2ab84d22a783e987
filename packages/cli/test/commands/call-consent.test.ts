import { expect, test } from "vitest";
import { machine } from "../support/machine.ts";
import { openTerminal } from "../support/terminal.ts";

test("a rule of mine that asks stops what I type without a terminal to ask on; --yes answers it", async () => {
  await using here = await machine();
  await here.run("policy", "ask", "demo.greet");
  const refused = await here.run("call", "demo.greet", "name=Ada", "--json");
  expect({ code: refused.code, ...JSON.parse(refused.stdout) }).toMatchObject({
    code: 6,
    ok: false,
    error: {
      code: "denied",
      message: expect.stringMatching(/^demo\.greet needs confirmation: a rule in .*fairlead\.toml:3 asks about it$/),
      next: "add --yes, or run the command in a terminal and answer yes",
    },
  });
  expect(await here.run("call", "demo.greet", "name=Ada", "--yes")).toEqual({
    code: 0,
    stdout: "Hello, Ada!\n",
    stderr: "",
  });
  expect(await here.run("call", "demo.statistics", "text=x")).toMatchObject({ code: 0 });
});

test("no yes answers a rule that denies, and the rule is named", async () => {
  await using here = await machine();
  await here.run("policy", "deny", "demo.greet");
  for (const yes of [[], ["--yes"]]) {
    const { code, stderr } = await here.run("call", "demo.greet", "name=Ada", ...yes);
    expect(code).toBe(6);
    expect(stderr).toMatch(
      /^fairlead: demo\.greet denied: a rule in .*fairlead\.toml:3 denies it\n {2}next: fairlead policy explain demo\.greet\n$/,
    );
  }
});

test("what only a default asks about, typing it has answered", async () => {
  await using here = await machine();
  expect(await here.run("call", "demo.greet", "name=Ada")).toMatchObject({ code: 0, stderr: "" });
});

test("on a terminal I see the rule and what would be sent, to the last character; Enter means no", async () => {
  await using here = await machine();
  await here.run("policy", "ask", "demo.greet");
  await using terminal = openTerminal(here, "call", "demo.greet", "name=Ada\u200b");
  const screen = await terminal.until(/Call it\? \[y\/N\]/);
  expect(screen).toMatch(
    /demo\.greet: a rule in .*fairlead\.toml:3 asks about it\n {2}name: "Ada⟨U\+200B⟩"\nCall it\?/,
  );
  terminal.type("\r");
  expect(await terminal.exitCode).toBe(6);
  await using again = openTerminal(here, "call", "demo.greet", "name=Ada");
  await again.until(/Call it\?/);
  again.type("y\r");
  expect(await again.exitCode).toBe(0);
  expect(again.screen()).toContain("Hello, Ada!");
});

test.each([
  ["resource", ["read", "demo://about"]],
  ["prompt", ["prompt", "demo:teach", "bowline"]],
])("a rule about a %s is asked and denied the same way", async (kind, words) => {
  const rule = (decision: string): string =>
    `[[rule]]\nmcpName = "demo"\nkind = "${kind}"\ndecision = "${decision}"\npriority = 1\n`;
  await using here = await machine({ "home/.gemini/policies/mine.toml": rule("ask_user") });
  expect(await here.run(...words)).toMatchObject({
    code: 6,
    stderr: expect.stringContaining("\n  next: add --yes, or run the command in a terminal and answer yes\n"),
  });
  expect(await here.run(...words, "--yes")).toMatchObject({ code: 0 });
  await here.write("home/.gemini/policies/mine.toml", rule("deny"));
  expect(await here.run(...words, "--yes")).toMatchObject({ code: 6, stdout: "" });
});

test("tools says what the rules say of each", async () => {
  await using here = await machine();
  await here.run("policy", "allow", "demo.greet");
  await here.run("policy", "deny", "demo.count");
  const { tools } = JSON.parse((await here.run("tools", "demo", "--json")).stdout);
  const decisions = Object.fromEntries(
    tools.map(({ serverToolName, decision }: Record<string, string>) => [serverToolName, decision]),
  );
  expect(decisions).toEqual({
    greet: "allow",
    picture: "ask_user",
    statistics: "ask_user",
    count: "deny",
    wait: "ask_user",
    fail: "ask_user",
  });
  const { stdout } = await here.run("tools", "demo");
  expect(stdout).toMatch(/greet\([^)]*\) \[read-only\] \[allowed\]/);
  expect(stdout).toMatch(/count\([^)]*\) \[read-only\] \[denied\]/);
});

test("settings validate finds mistakes in policy files", async () => {
  await using here = await machine({
    "home/.gemini/policies/mine.toml": '[[rule]]\nmcpNmae = "demo"\ndecision = "deny"\npriority = 1\n',
  });
  const { code, stdout } = await here.run("settings", "validate");
  expect(code).toBe(3);
  expect(stdout).toMatch(
    /mine\.toml:2:1: error: "mcpNmae" is not a known key of a rule;[^\n]*\n {2}next: Did you mean "mcpName"\?/,
  );
});

test("a policy file that cannot be read is named by each command that it stops", async () => {
  await using here = await machine({ "home/.gemini/policies/mine.toml": "[[rule]\n" });
  for (const words of [
    ["call", "demo.greet", "name=Ada"],
    ["policy", "explain", "demo.greet"],
    ["tools", "demo"],
  ])
    expect((await here.run(...words)).stderr).toMatch(/^[^\n]*mine\.toml:\d+:\d+: error: .*is not valid TOML/);
});

test.each([
  ["call", ["call", "demo.greet", "name=Ada"]],
  ["read", ["read", "demo://about"]],
  ["prompt", ["prompt", "demo:teach", "bowline"]],
])("a %s that an invalid policy file stops has one next step: to correct the file", async (_door, words) => {
  await using here = await machine({ "home/.gemini/policies/mine.toml": "[[rule]\n" });
  const { code, stderr } = await here.run(...words);
  expect(code).toBe(6);
  expect(stderr.trimEnd().split("\n").at(-1)).toMatch(/^ {2}next: correct .*mine\.toml$/);
});
