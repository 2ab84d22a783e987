import { join } from "node:path";
import type { Clock } from "@fairlead/core/clock";
import { type IdeCompanion, ideCompanion } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { type Ending, type Machine, machine, projectFile, userFile } from "../../support/machine.ts";
import { stillClock } from "../../support/still-clock.ts";

const files = {
  [userFile]: { mcpServers: { mine: { command: "/bin/false", trust: true } } },
  [projectFile]: { mcpServers: { theirs: { command: "/bin/false" } } },
};

/** Runs the command in the integrated terminal of the companion's IDE. */
function runIn(companion: IdeCompanion, here: Machine, ...words: readonly string[]): Promise<Ending> {
  const env = { TMPDIR: join(here.path, "tmp"), ...companion.variables(here.project) };
  return here.runWith({ env, clock: stillClock }, ...words);
}

const reported = ({ port }: IdeCompanion): string => `reported by the IDE, companion on port ${port}`;

test("trust list and policy explain show what the IDE reports, and that it counts more than the file", async () => {
  await using here = await machine(files);
  await using companion = await ideCompanion();
  expect((await runIn(companion, here, "trust", "list")).stdout).toMatch(
    `here: ${here.project} is trusted (${reported(companion)})\nwithout the IDE: not trusted (no rule covers it)\n`,
  );
  expect((await runIn(companion, here, "policy", "explain", "mine.x")).stdout).toBe(`mine.x: allow
  because  "trust": true of "mine" in ${here.home}/.gemini/settings.json:3 allows it
  weaker   the default for tools asks about it
  folder   ${here.project} is trusted: ${reported(companion)}
  note     "mine" has no cached catalog yet, so the tool's annotations are unknown; to load them: fairlead tools
`);
  await here.run("trust", "add", "--yes");
  companion.say(false);
  expect((await runIn(companion, here, "trust", "list")).stdout).toMatch(
    `here: ${here.project} is not trusted (${reported(companion)})\nwithout the IDE: trusted (TRUST_FOLDER for ${here.project}`,
  );
  expect((await runIn(companion, here, "policy", "explain", "mine.x")).stdout).toContain(`mine.x: ask
  because  the default for tools asks about it
  folder   ${here.project} is not trusted: ${reported(companion)}
  trust    "trust": true has no effect: the folder ${here.project} is not trusted: ${reported(companion)}
           next: Trust the folder in the IDE, or set ide.enabled to false in your settings.
`);
  expect((await here.run("trust", "list")).stdout).not.toContain("IDE");
});

test("the JSON documents name the IDE as the source", async () => {
  await using here = await machine(files);
  await using companion = await ideCompanion({ isTrusted: false });
  const document = async (...words: readonly string[]): Promise<unknown> =>
    JSON.parse((await runIn(companion, here, ...words, "--json")).stdout);
  const decision = { trusted: false, source: "ide", detail: reported(companion) };
  expect(await document("trust", "list")).toMatchObject({
    root: here.project,
    ...decision,
    withoutIde: { trusted: false, source: "default", detail: "no rule covers it" },
  });
  expect(await document("policy", "explain", "mine.x")).toMatchObject({
    decision: "ask_user",
    folder: { root: here.project, ...decision },
    trustEffect: { counts: false, reason: `the folder ${here.project} is not trusted: ${reported(companion)}` },
  });
});

test("a server of a folder that only the IDE trusts still waits for approval; trust add writes the rule as well", async () => {
  await using here = await machine(files);
  await using companion = await ideCompanion();
  const got = await runIn(companion, here, "mcp", "get", "theirs", "--json");
  expect(JSON.parse(got.stdout)).toMatchObject({ status: "blocked", reason: "awaiting_approval" });
  const added = await runIn(companion, here, "trust", "add", "--yes", "--json");
  expect(JSON.parse(added.stdout)).toMatchObject({ trusted: true, approved: ["theirs"] });
  expect(JSON.parse(await here.read("home/.gemini/trustedFolders.json"))).toEqual({ [here.project]: "TRUST_FOLDER" });
  const then = await runIn(companion, here, "mcp", "get", "theirs", "--json");
  expect(JSON.parse(then.stdout)).toMatchObject({ status: "disconnected", reason: "lazy" });
});

test("trust add and remove say that the IDE decides otherwise", async () => {
  await using here = await machine(files);
  await using companion = await ideCompanion({ isTrusted: false });
  const added = await runIn(companion, here, "trust", "add", "--yes");
  expect(added.stderr).toContain(`warning: the folder is still not trusted: ${reported(companion)}
  next: Trust the folder in the IDE, or set ide.enabled to false in your settings.
`);
  companion.say(true);
  const removed = await runIn(companion, here, "trust", "remove");
  expect(removed.stderr).toContain(`warning: the folder is still trusted: ${reported(companion)}\n`);
});

test.each<[string, readonly string[], Readonly<Record<string, string>>, string]>([
  ["--no-workspace", ["--no-workspace"], {}, "no_workspace"],
  ["--trust-workspace", ["--trust-workspace"], {}, "flag"],
  ["a variable", [], { GEMINI_CLI_TRUST_WORKSPACE: "false" }, "environment"],
])("with %s the IDE is not asked", async (_, words, env, source) => {
  await using here = await machine(files);
  await using companion = await ideCompanion();
  const variables = { ...companion.variables(here.project), ...env };
  const { stdout } = await here.runWith({ env: variables, clock: stillClock }, "trust", "list", "--json", ...words);
  expect(JSON.parse(stdout)).toMatchObject({ source });
  expect(companion.seen).toEqual([]);
});

test("settings validate, completion and commands without settings do not wait for the IDE", async () => {
  await using here = await machine(files);
  await using companion = await ideCompanion({}, { initialize: () => {} });
  for (const words of [
    ["settings", "validate"],
    ["__complete", "--", "mcp", "get", ""],
    ["--version"],
    ["secret", "list"],
  ])
    await runIn(companion, here, ...words);
  expect(companion.seen).toEqual([]);
});

test("an IDE that does not answer holds up a command by a second, once", async () => {
  await using here = await machine(files);
  await using companion = await ideCompanion({}, { initialize: () => {} });
  const waits: number[] = [];
  // Every wait ends at once, and the clock moves on by it.
  let now = 0;
  const clock: Clock = {
    now: () => now,
    after(milliseconds, action) {
      waits.push(milliseconds);
      setImmediate(() => {
        now += milliseconds;
        action();
      });
      return () => {};
    },
  };
  const env = companion.variables(here.project);
  // `mcp add` loads the settings several times.
  const { code } = await here.runWith({ env, clock }, "mcp", "add", "-s", "user", "--no-test", "x", "/bin/false");
  expect(code).toBe(0);
  expect(waits).toEqual([1_000]);
});
