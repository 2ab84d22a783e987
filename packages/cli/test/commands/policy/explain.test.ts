import { spawnSync } from "node:child_process";
import { rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { type Machine, machine, userFile } from "../../support/machine.ts";
import { program } from "../../support/process.ts";

const rule = (tool: string, decision: string, priority: number): string =>
  `[[rule]]\nmcpName = "demo"\n${tool}decision = "${decision}"\npriority = ${priority}\n`;

const files = {
  [userFile]: { mcpServers: { new: { command: "x" }, "a*b": { command: "y" } } },
  "home/.gemini/policies/m.toml": [
    rule('toolName = "greet"\n', "deny", 5),
    rule("", "allow", 3),
    rule('toolName = "gr*"\n', "ask_user", 4),
  ].join(""),
};

async function explained(here: Machine, words: string): Promise<readonly [number, string]> {
  const { code, stdout, stderr } = await here.run("policy", "explain", ...words.split(" "));
  return [code, `${stdout}${stderr}`.replaceAll(`${here.home}/.gemini/policies/`, "")];
}

test("the user sees the decision, its rule, the weaker rules in order, and what the catalog cache lacks", async () => {
  await using here = await machine(files);
  const noCatalog = "has no cached catalog yet, so the tool's annotations are unknown; to load them: fairlead tools";
  const explanations: Readonly<Record<string, string>> = {
    "demo.greet": `demo.greet: deny
  because  a rule in m.toml:1 denies it
  rule     demo.greet
  weaker   a rule in m.toml:10 asks about it
           a rule in m.toml:6 allows it
           the default for tools asks about it
`,
    "demo.grow --headless": `demo.grow: deny
  because    the rule for runs without a terminal denies it
  otherwise  a rule in m.toml:10 asks about it
  weaker     a rule in m.toml:6 allows it
             the default for tools asks about it
  note       "demo" has no tool "grow" in its cached catalog
`,
    "demo.count --mode plan": `demo.count: deny
  because    plan mode denies it
  otherwise  a rule in m.toml:6 allows it
  weaker     the default for tools asks about it
`,
    "new.x": `new.x: ask
  because  the default for tools asks about it
  note     "new" ${noCatalog}
`,
    "new.x --mode yolo": `new.x: allow
  because    yolo mode allows it
  otherwise  the default for tools asks about it
  note       "new" ${noCatalog}
`,
    "a*b.x": `a*b.x: ask
  because  the default for tools asks about it
  note     "a*b" ${noCatalog}
`,
    "--kind resource new.x://a": `resource new.x://a: ask
  because  the default for resources asks about it
`,
    "--kind sampling new": `sampling of new: ask
  because  the default for sampling asks about it
`,
    "--kind prompt demo.teach": `prompt demo.teach: allow
  because  a rule in m.toml:6 allows it
  rule     everything of demo
  weaker   the default for prompts allows it
`,
    "--server none --tool x": `none.x: ask
  because  the default for tools asks about it
  note     no server "none" is configured here
`,
    "--kind prompt --server none --tool x": `prompt none.x: allow
  because  the default for prompts allows it
  note     no server "none" is configured here
`,
  };
  for (const [words, text] of Object.entries(explanations))
    expect(await explained(here, words), words).toEqual([0, text]);
});

test("the user must name one tool, prompt or resource, not a pattern", async () => {
  await using here = await machine(files);
  const refusals: Readonly<Record<string, string>> = {
    "none.x?": '"none.x?" is a pattern: policy explain takes one tool\n  next: fairlead policy list',
    "no?.x": '"no?.x" is a pattern: policy explain takes one tool\n  next: fairlead policy list',
    "a*b.*": '"a*b.*" is a pattern: policy explain takes one tool\n  next: fairlead policy list',
    "--kind prompt new": "no prompt is named: policy explain takes one prompt\n  next: fairlead prompts new",
    "--kind prompt new.*": "no prompt is named: policy explain takes one prompt\n  next: fairlead prompts new",
    "--kind resource a*b": "no resource is named: policy explain takes one resource\n  next: fairlead resources 'a*b'",
  };
  for (const [words, text] of Object.entries(refusals))
    expect(await explained(here, words), words).toEqual([2, `fairlead: ${text}\n`]);
});

test("the JSON document names the rule, the rule that it replaces, and the others that match", async () => {
  await using here = await machine(files);
  const { stdout } = await here.run("policy", "explain", "demo.grow", "--headless", "--json");
  const file = `${here.home}/.gemini/policies/m.toml`;
  const ofUser = { tier: "user", server: "demo" };
  expect(JSON.parse(stdout)).toEqual({
    schemaVersion: 1,
    server: "demo",
    tool: "grow",
    kind: "tool",
    known: "server",
    mode: "default",
    interactive: false,
    changed: false,
    decision: "deny",
    rule: {
      decision: "deny",
      tier: "default",
      priority: 0,
      origin: { source: "built_in", name: "headless" },
      text: "the rule for runs without a terminal denies it",
    },
    over: {
      ...ofUser,
      decision: "ask_user",
      priority: 4,
      tool: "gr*",
      origin: { source: "policy_file", file, line: 10 },
      text: `a rule in ${file}:10 asks about it`,
    },
    matched: [
      {
        ...ofUser,
        decision: "allow",
        priority: 3,
        origin: { source: "policy_file", file, line: 6 },
        text: `a rule in ${file}:6 allows it`,
      },
      {
        decision: "ask_user",
        tier: "default",
        priority: 0,
        kind: "tool",
        origin: { source: "built_in", name: "tools" },
        text: "the default for tools asks about it",
      },
    ],
    folder: { root: here.project, trusted: false, source: "default", detail: "no rule covers it" },
  });
});

test("the user sees that a definition changed, also if another rule decides; a listed name with * is no pattern", async () => {
  await using here = await machine();
  const tools = (description: string): object[] =>
    ["pay", "p*"].map((name) => ({ name, description, inputSchema: { type: "object" } }));
  await here.write(userFile, { mcpServers: { s: stdioServer("counted", "", join(here.path, "list.json")) } });
  await here.write("list.json", tools("Pays once."));
  await here.run("mcp", "list");
  await here.write("list.json", tools("Pays twice."));
  expect(await here.run("call", "s.pay")).toMatchObject({ code: 6 });
  const changed = `  because    the rule for changed definitions asks about it
  otherwise  the default for tools asks about it
`;
  expect(await explained(here, "s.pay")).toEqual([0, `s.pay: ask\n${changed}`]);
  expect(await explained(here, "s.p*")).toEqual([0, `s.p*: ask\n${changed}`]);
  await here.run("policy", "deny", "s.pay");
  expect(await explained(here, "s.pay")).toEqual([
    0,
    `s.pay: deny
  because  a rule in fairlead.toml:3 denies it
  rule     s.pay
  weaker   the default for tools asks about it
  changed  the tool's definition differs from the accepted one
`,
  ]);
  expect((await here.run("policy", "allow", "s.p*")).stdout).toMatch(/^allow s\.p\\\*: written to .*:9\n$/);
  // The catalog cache has both tools, so the rule that is stronger than the new rule for the server is named.
  expect((await here.run("policy", "deny", "s.*")).stderr.replaceAll(`${here.home}/.gemini/policies/`, "")).toBe(
    "note: for s.p* a stronger rule decides: a rule in fairlead.toml:9 allows it\nundo: fairlead policy remove 's.*'\n",
  );
});

test("if the state folder cannot be written, explain and the refusal of a call that a rule allows both name it", async () => {
  await using here = await machine({
    "home/.gemini/settings.json": { mcpServers: { s: stdioServer("well-behaved") } },
    "home/.gemini/policies/mine.toml": '[[rule]]\nmcpName = "s"\ntoolName = "*"\ndecision = "allow"\npriority = 1\n',
    // Not even root can write below a file.
    "home/.fairlead/known": "not a folder",
    "home/.fairlead/catalogs": "not a folder",
  });
  const state = `the state folder ${join(here.home, ".fairlead/known")} cannot be written`;
  const call = await here.run("call", "s.echo", "text=hi");
  expect([call.code, call.stderr]).toEqual([6, expect.stringContaining(state)]);
  const explained = await here.run("policy", "explain", "s.echo", "--headless");
  expect(explained.stdout).toContain(
    `s.echo: deny\n  because    the rule for definitions that may have changed denies it: ${state}`,
  );
  expect((await here.run("policy", "explain", "s.echo")).stdout).toContain(`asks about it: ${state}`);
});

test("if the state folder is a link without a target, explain and the refusal both say so", async () => {
  await using here = await machine({
    "home/.gemini/settings.json": { mcpServers: { s: stdioServer("well-behaved") } },
    "home/.gemini/policies/mine.toml": '[[rule]]\nmcpName = "s"\ntoolName = "*"\ndecision = "allow"\npriority = 1\n',
  });
  const folder = join(here.home, ".fairlead");
  await rm(folder, { recursive: true, force: true });
  await symlink("nowhere", folder);
  const state = `the state folder ${folder} cannot be written: it is a symbolic link whose target does not exist`;
  const call = await here.run("call", "s.echo", "text=hi");
  expect([call.code, call.stderr]).toEqual([6, expect.stringContaining(state)]);
  expect((await here.run("policy", "explain", "s.echo", "--headless")).stdout).toContain(
    `s.echo: deny\n  because    the rule for definitions that may have changed denies it: ${state}`,
  );
});

const alone = ["--user", "--map-root-user", "--mount", "sh", "-c"];
const canMount = spawnSync("unshare", [...alone, "mount -t tmpfs none /mnt"]).status === 0;

/** Runs the command with a home that can be read and not written, not even by root. */
function runWithReadOnlyHome(here: Machine, ...words: readonly string[]) {
  const script = `mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"`;
  const { status, stdout, stderr } = spawnSync(
    "unshare",
    [...alone, script, "sh", here.home, process.execPath, program, ...words],
    { cwd: here.project, env: here.env, encoding: "utf8" },
  );
  return { code: status, stdout, stderr };
}

describe.runIf(canMount)("with a read-only home", () => {
  async function scene() {
    const here = await machine({
      "home/.gemini/policies/mine.toml": '[[rule]]\nmcpName = "s"\ntoolName = "*"\ndecision = "allow"\npriority = 1\n',
    });
    await here.write(userFile, { mcpServers: { s: stdioServer("counted", "", join(here.path, "list.json")) } });
    await here.write("list.json", pay("Pays once."));
    expect(await here.run("call", "s.pay", "text=hi")).toMatchObject({ code: 0 });
    return here;
  }
  const pay = (description: string): object[] => [{ name: "pay", description, inputSchema: { type: "object" } }];
  const unless = "unless   the definition has changed since the cached catalog was saved: ";

  test("explain and the refusal of a call whose tool has changed both name the folder", async () => {
    await using here = await scene();
    await here.write("list.json", pay("Pays twice."));
    const state = `the state folder ${join(here.home, ".fairlead")} cannot be written: the file system is read-only`;
    expect(runWithReadOnlyHome(here, "policy", "explain", "s.pay").stdout).toContain(`${unless}${state}`);
    expect(runWithReadOnlyHome(here, "call", "s.pay", "text=hi")).toMatchObject({
      code: 6,
      stderr: expect.stringContaining(`s.pay changed: its definition differs from the accepted one; ${state}`),
    });
    expect(JSON.parse(runWithReadOnlyHome(here, "policy", "explain", "s.pay", "--json").stdout)).toMatchObject({
      decision: "allow",
      outdated: state,
    });
  });

  test("a call that a rule allows runs, as explain says, if the tool has not changed", async () => {
    await using here = await scene();
    expect(runWithReadOnlyHome(here, "policy", "explain", "s.pay").stdout).toMatch(/^s\.pay: allow\n/);
    expect(runWithReadOnlyHome(here, "call", "s.pay", "text=hi")).toMatchObject({ code: 0, stdout: "hi\n" });
  });
});

test("an invalid policy file is the reason of the decision, with line and cause", async () => {
  await using here = await machine({ "home/.gemini/policies/m.toml": "[[rule]]\na = ]\n" });
  const [code, text] = await explained(here, "demo.greet");
  expect(code).toBe(0);
  expect(text).toContain(
    "because  m.toml:2: the file is not valid TOML: Unexpected token, so every request needs confirmation\n",
  );
  expect(text).not.toContain("a rule in m.toml");
});
