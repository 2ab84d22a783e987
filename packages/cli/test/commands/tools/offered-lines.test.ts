import { expect, test } from "vitest";
import { type Ending, machine, userFile } from "../../support/machine.ts";

test("the user sees the cost of each tool, the tools that match a search, and why a tool is offered", async () => {
  await using here = await machine();
  const tools = (...words: readonly string[]): Promise<Ending> => here.run("tools", ...words);
  const shown = (stdout: string): Ending => ({ code: 0, stdout, stderr: "" });
  const refused = (text: string): Ending => ({ code: 2, stdout: "", stderr: `fairlead: ${text}\n` });
  expect(await tools("--tokens")).toEqual(
    shown(`demo: about 462 tokens, 100 % of all
      101  ####################  greet
       88  #################     count
       87  #################     picture
       68  #############         statistics
       63  ############          wait
       55  ###########           fail

A model is offered 6 tools directly, about 462 tokens; all tools: about 462 tokens.
`),
  );
  const { tools: costs, ...sums } = JSON.parse((await tools("--tokens", "--json")).stdout) as {
    tools: { serverToolName: string; tokens: number; offered: boolean }[];
  };
  expect(sums).toEqual({ schemaVersion: 1, servers: [{ name: "demo", tokens: 462 }], tokens: 462, isEstimate: true });
  expect(costs.map(({ serverToolName, tokens, offered }) => [serverToolName, tokens, offered])).toEqual([
    ["greet", 101, true],
    ["count", 88, true],
    ["picture", 87, true],
    ["statistics", 68, true],
    ["wait", 63, true],
    ["fail", 55, true],
  ]);
  expect(await tools("--search", "count words", "--limit", "2")).toEqual(
    shown(`  demo.statistics(text: string) → {characters: integer, words: integer, lines: integer, longestWord: string} [read-only] as demo__statistics
      Count the characters, words and lines of a text, and find its longest word.
  demo.count(to?: integer = 5, pause?: number = 300) [read-only] as demo__count
      Count from one upwards with a pause before each number, and report progress.
`),
  );
  const found = JSON.parse((await tools("--search", "count", "--limit", "1", "--json")).stdout);
  expect(found).toMatchObject({ tools: [{ name: "demo__count", score: 1000 }] });
  expect(found.tools).toHaveLength(1);
  expect(JSON.parse((await tools("--why", "demo.greet", "--json")).stdout)).toEqual({
    schemaVersion: 1,
    server: "demo",
    tool: "greet",
    offered: true,
    reason: "every tool fits into the budget",
    tokens: 101,
  });
  expect(await tools("--why", "demo.gret")).toEqual(refused('"demo" has no tool "gret"\n  next: fairlead tools demo'));
  for (const limit of ["0", "1001", "1.5", "-1"])
    expect(await tools("--search", "x", `--limit=${limit}`)).toEqual(
      refused(`--limit must be a number from 1 to 1000, not "${limit}"\n  next: --limit 20`),
    );
  for (const limit of ["1", "1000"])
    expect(await tools("--search", "count", "--limit", limit)).toMatchObject({ code: 0 });
});

test("the user is told why models do not get a tool: the budget, or a setting that hides it", async () => {
  await using here = await machine({
    [userFile]: { fairlead: { toolBudget: 50, permissions: { denyTools: ["greet"] } } },
  });
  expect((await here.run("tools", "--why", "demo.count")).stdout).toBe(
    "demo.count is not offered to models directly: the tool budget is used up; models find the tool by search\n",
  );
  expect((await here.run("tools", "--tokens")).stdout).toMatch(/\n\nA model is offered /);
});
