import { chmod, mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { machine, projectFile, userFile } from "../../support/machine.ts";

const rules = "home/.gemini/policies/mine.toml";
const allow = (server: string): string => `[[rule]]\nmcpName = "${server}"\ndecision = "allow"\npriority = 1\n`;

test("a rule for a server that is not here is pointed out, with the name that may have been meant", async () => {
  await using here = await machine({
    [userFile]: { mcpServers: { github: { command: "x" } } },
    [rules]: `${allow("githup")}${allow("git*")}${allow("later")}`,
  });
  const { stderr } = await here.run("policy", "list");
  expect(stderr.replaceAll(`${here.path}/`, "")).toBe(
    `${rules}:1: note: no server "githup" is configured here; did you mean "github"?\n${rules}:9: note: no server "later" is configured here\n`,
  );
});

test("a link that leads out of a trusted folder is not called untrusted", async () => {
  await using here = await machine({ "elsewhere/a.toml": allow("s"), "project/.gemini/.keep": "" });
  await mkdir(join(here.path, "project/.gemini/policies"));
  await symlink(join(here.path, "elsewhere/a.toml"), join(here.path, "project/.gemini/policies/a.toml"));
  const { stderr } = await here.run("policy", "list", "--trust-workspace");
  expect(stderr).toContain("is ignored: it is a link out of the workspace");
  expect(stderr).not.toContain("not trusted");
});

test("misspelt lists of what is closed are told with the call that they do not stop", async () => {
  await using here = await machine({ [userFile]: { mcp: { exclude: ["demo"] } } });
  const { code, stderr } = await here.run("call", "demo.greet", "name=Ada");
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /settings\.json:\d+:\d+: error: "exclude" is not a known key.*\n {2}next: Did you mean "excluded"\?/,
  );
});

test("the doctor looks at rules and approvals", async () => {
  await using here = await machine({ [rules]: `${allow("demo")}[[deny]]\n`, "home/.fairlead/approvals.json": "{}" });
  await chmod(join(here.path, "home/.fairlead/approvals.json"), 0);
  const { stdout } = await here.runWith({ env: { FAIRLEAD_SECRET_STORE: "file" } }, "doctor", "--json");
  const { findings } = JSON.parse(stdout) as { findings: { group: string; severity: string; message: string }[] };
  const own = findings.filter(({ group }) => group === "policy").map(({ severity, message }) => [severity, message]);
  const approvals = ["problem", expect.stringContaining("approvals.json cannot be read")];
  expect(own).toEqual([
    [
      "problem",
      expect.stringMatching(/mine\.toml:5:1: "deny" is not a known table of a policy file and may be meant .*$/),
    ],
    // Who may do anything may read it.
    ...(process.getuid?.() === 0 ? [] : [approvals]),
  ]);
});

test("before a workspace's server is approved, the rules that would let it run are named", async () => {
  await using here = await machine({
    [projectFile]: { mcpServers: { github: stdioServer("well-behaved"), other: stdioServer("well-behaved") } },
    [rules]: `${allow("github")}toolName = "get_*"\n`,
  });
  const { stderr } = await here.run("trust", "add");
  expect(stderr.match(/runs without confirmation: .*/g)).toEqual([
    `runs without confirmation: github.get_*, by ${join(here.path, rules)}:1`,
  ]);
});

test("the history tells a yes that the user typed before Fairlead asked", async () => {
  await using here = await machine();
  await here.run("policy", "ask", "demo.greet");
  await here.run("call", "demo.greet", "name=Ada", "--yes");
  await here.run("call", "demo.greet", "name=Ada");
  const { stdout } = await here.run("history");
  expect(stdout.match(/asks about it.*/g)).toEqual([
    "asks about it; --yes",
    "asks about it; there was no terminal to ask on",
  ]);
});

test("a history that cannot be written is told once, and stops nothing", async () => {
  await using here = await machine({ "home/.fairlead/ledger": "a file, not a folder" });
  const { code, stdout, stderr } = await here.run("call", "demo.greet", "name=Ada");
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Hello, Ada!\n" });
  expect(stderr.match(/not recorded in the history/g)).toHaveLength(1);
});
