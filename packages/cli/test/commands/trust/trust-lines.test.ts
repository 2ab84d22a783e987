import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { type Ending, type Machine, machine, projectFile } from "../../support/machine.ts";
import { openTerminalHere } from "../../support/terminal-here.ts";

const entries = { mcpServers: { one: { command: "run" }, two: { url: "https://example.com/mcp" } } };
const trustedFolders = "home/.gemini/trustedFolders.json";

async function trust(here: Machine, ...words: readonly string[]): Promise<Ending> {
  const { code, stdout, stderr } = await here.run("trust", ...words);
  return { code, stdout: stdout.replaceAll(here.path, ""), stderr: stderr.replaceAll(here.path, "") };
}

const one = `
  one
    written in  /project/.gemini/settings.json:3:5
    transport   stdio
    command     run
    runs        run (not found)
    sandbox     not sandboxed
    timeout     600000 ms
`;
const two = `
  two
    written in  /project/.gemini/settings.json:6:5
    transport   http
    url         https://example.com/mcp
    timeout     600000 ms
`;
const untrusted = `folder: /project (not trusted yet)
  If you trust the folder, Fairlead reads its .gemini/settings.json and .env files. Each server still needs an approval
  to start.
2 servers to approve:
${one}${two}`;
const approvedBoth = "folder: /project (trusted)\nalready approved: one, two\nno servers to approve\n";
const cannotRestore = (before: string): string =>
  `previous state cannot be restored: fairlead trust remove /project deletes the rule and all approvals${before}\n`;

/** Runs `trust add` on a terminal, types each answer at its question, and returns everything that is on the screen. */
async function answered(
  here: Machine,
  words: readonly string[],
  answers: readonly (readonly [question: RegExp, answer: string])[],
): Promise<readonly [code: number, screen: string]> {
  await using terminal = openTerminalHere(here, "trust", "add", "--sandbox", "off", ...words);
  for (const [question, answer] of answers) {
    await terminal.until(question);
    terminal.type(`${answer}\r`);
  }
  const code = await terminal.exitCode;
  return [code, `${terminal.screen().replaceAll(here.path, "")}\n`];
}

describe("on a terminal", () => {
  test("the user answers for the folder and for each server in order, and sees the outcome and the undo command", async () => {
    await using here = await machine({ [projectFile]: entries });
    const answers = [
      [/Trust .*\[y\/N\]$/, "y"],
      [/Approve one.*\[y\/N\]$/, "no"],
      [/Approve two.*\[y\/N\]$/, "YES"],
    ] as const;
    expect(await answered(here, [], answers)).toEqual([
      0,
      `${untrusted}Trust /project? [y/N] y
Approve one, exactly as shown? [y/N] no
Approve two, exactly as shown? [y/N] YES
trusted: /project
approved: two
not approved: one
undo: fairlead trust remove /project
`,
    ]);
    expect(JSON.parse(await here.read(trustedFolders))).toEqual({ [here.project]: "TRUST_FOLDER" });
    expect(await answered(here, [], [[/Approve one.*\[y\/N\]$/, ""]])).toEqual([
      0,
      `folder: /project (trusted)
already approved: two
1 server to approve:
${one}Approve one, exactly as shown? [y/N] 
not approved: one
`,
    ]);
  });

  test("the user who answers no to the parent folder changes nothing", async () => {
    await using here = await machine({ [projectFile]: entries });
    expect(await answered(here, ["--parent"], [[/every folder.*\[y\/N\]$/, ""]])).toEqual([
      6,
      `${untrusted}Trust  and every folder in it? [y/N] 
fairlead: "/project" is not trusted: you answered no; nothing was changed
`,
    ]);
    await expect(here.read(trustedFolders)).rejects.toThrow("ENOENT");
  });
});

test("with --yes the user sees what changed, and whether the previous state can be restored", async () => {
  await using here = await machine({ [projectFile]: entries });
  const approved = "approved: one, two\n";
  expect(await trust(here, "add", "--yes")).toEqual({
    code: 0,
    stdout: `trusted: /project\n${approved}`,
    // Without a terminal nothing is wrapped.
    stderr: `${untrusted.replace("approval\n  to", "approval to")}undo: fairlead trust remove /project\n`,
  });
  expect(await trust(here, "add", "--yes")).toEqual({ code: 0, stdout: "", stderr: approvedBoth });
  expect(await trust(here, "add")).toEqual({ code: 0, stdout: "", stderr: approvedBoth });
  expect(await trust(here, "add", "--yes", "--parent")).toEqual({
    code: 0,
    stdout: "trusted: \n",
    stderr: `${approvedBoth}${cannotRestore("; the previous rule was TRUST_FOLDER (/home/.gemini/trustedFolders.json)")}`,
  });
  await here.write(trustedFolders, { [dirname(here.project)]: "TRUST_FOLDER", [here.project]: "DO_NOT_TRUST" });
  expect((await trust(here, "add", "--yes")).stderr).toBe(
    `folder: /project (not trusted yet)
  If you trust the folder, Fairlead reads its .gemini/settings.json and .env files. Each server still needs an approval to start.
already approved: one, two
no servers to approve
${cannotRestore("; the previous rule was DO_NOT_TRUST (/home/.gemini/trustedFolders.json)")}`,
  );
  await here.write(trustedFolders, {});
  expect(await trust(here, "add", "--yes", "--quiet")).toEqual({ code: 0, stdout: "trusted: /project\n", stderr: "" });
  await here.write(trustedFolders, {});
  const again = await trust(here, "add", "--yes");
  expect(again.stderr.endsWith(`no servers to approve\n${cannotRestore("")}`)).toBe(true);
});

test("trust list shows each rule in words, invalid ones with their problem, and trust remove what it removed", async () => {
  await using here = await machine({ [projectFile]: entries });
  await here.write(trustedFolders, {
    [here.project]: "DO_NOT_TRUST",
    "/nowhere": "TRUST_FOLDER",
    "/x/y": "TRUST_PARENT",
    "/bad": "MAYBE",
  });
  const problem = `/${trustedFolders}:5:3: error: the folder "/bad" is not trusted: its trust level must be one of TRUST_FOLDER, TRUST_PARENT, DO_NOT_TRUST\n`;
  const { code, stdout, stderr } = await trust(here, "list");
  expect({ code, stderr }).toEqual({ code: 0, stderr: problem });
  expect(
    stdout.replaceAll(/ {3,}/g, "   "),
  ).toBe(`here: /project is not trusted (DO_NOT_TRUST for /project (/${trustedFolders}:2))

folders (/${trustedFolders}):
  not trusted   /project
  trusted   /nowhere   (no effect: the folder does not exist, or is a link)
  parent trusted  /x/y   (no effect: the folder does not exist, or is a link)
  not trusted   /bad   (no effect: the folder does not exist, or is a link)

approved servers:
  none
`);
  expect(await trust(here, "remove", "/nowhere")).toEqual({
    code: 0,
    stdout: "removed the trust rule of /nowhere\n",
    stderr: "",
  });
  await trust(here, "add", "--yes");
  expect(await trust(here, "remove")).toMatchObject({
    code: 0,
    stdout: "removed the trust rule of /project\nno longer approved: one, two\n",
  });
  expect(await trust(here, "remove", "sub/folder")).toEqual({
    code: 2,
    stdout: "",
    stderr: 'fairlead: "/project/sub/folder" has no trust rule and no approved servers\n  next: fairlead trust list\n',
  });
});

test("the review names the tools that run without confirmation: by a rule, and by an approval of this very entry", async () => {
  const rule = (text: string, decision = "allow"): string =>
    `[[rule]]\n${text}\ndecision = "${decision}"\npriority = 1\n`;
  await using here = await machine({
    [projectFile]: { mcpServers: { one: { command: "run", trust: true } } },
    "home/.gemini/policies/m.toml": [
      rule('mcpName = "*"\ntoolName = "any"'),
      rule('mcpName = "one"\ntoolName = "own"'),
      rule('mcpName = "other"\ntoolName = "foreign"'),
      rule('mcpName = "one"\ntoolName = "ask"', "ask_user"),
      rule('mcpName = "one"\ntoolName = "p"\nkind = "prompt"'),
      rule('mcpName = "one"\ntoolName = "t"\nkind = "tool"'),
    ].join(""),
  });
  const { fingerprint } = JSON.parse((await here.run("mcp", "get", "one", "--json", "--trust-workspace")).stdout);
  const approval = (tool: string, given: object): object => ({
    server: "one",
    workspace: here.project,
    fingerprint,
    tool,
    digest: "d".repeat(64),
    approvedAt: "2026-01-31T08:30:05.123Z",
    ...given,
  });
  await here.write("home/.fairlead/approvals.json", {
    version: 2,
    workspaces: {},
    tools: [
      approval("a", { server: "two" }),
      approval("b", { workspace: here.home }),
      approval("c", { fingerprint: "f".repeat(64) }),
      approval("d", {}),
    ],
  });
  const { stderr } = await trust(here, "add");
  expect(stderr.match(/runs without confirmation: .*/g)).toEqual([
    "runs without confirmation: *.any, by /home/.gemini/policies/m.toml:1",
    "runs without confirmation: one.own, by /home/.gemini/policies/m.toml:6",
    "runs without confirmation: one.t, by /home/.gemini/policies/m.toml:27",
    "runs without confirmation: one.d, by your approval",
  ]);
});
