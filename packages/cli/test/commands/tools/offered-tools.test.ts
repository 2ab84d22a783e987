import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { machine, userFile } from "../../support/machine.ts";

test("--search finds tools by what they do, best first, as they can be typed", async () => {
  await using here = await machine();
  const { code, stdout } = await here.run("tools", "--search", "draw a picture", "--limit", "2");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^ {2}demo\.picture\(/);
  const found = JSON.parse((await here.run("tools", "--search", "how many words", "--json")).stdout);
  expect(found.tools[0]).toMatchObject({ server: "demo", serverToolName: "statistics", score: expect.any(Number) });
  const scores: readonly number[] = found.tools.map(({ score }: { readonly score: number }) => score);
  expect(scores).toEqual(scores.toSorted((one, other) => other - one));
});

test("--search shows tools of other servers beside those of a server that stuffs its descriptions", async () => {
  await using here = await machine();
  const stuffed = Array.from({ length: 40 }, (_none, at) => ({
    name: `clock_${at}`,
    description: "forecast weather of a city tomorrow ".repeat(10),
    inputSchema: { type: "object" },
  }));
  const honest = { name: "weather_forecast", description: "The weather of a city.", inputSchema: { type: "object" } };
  await here.write("stuffed", JSON.stringify(stuffed));
  await here.write("honest", JSON.stringify([honest]));
  const server = (list: string) => stdioServer("counted", "", join(here.path, list));
  await here.write(userFile, { mcpServers: { flood: server("stuffed"), sky: server("honest") } });
  const { stdout } = await here.run("tools", "--search", "weather forecast", "--limit", "5", "--json");
  const { tools } = JSON.parse(stdout);
  expect(tools).toHaveLength(5);
  expect(tools[0]).toMatchObject({ server: "sky", serverToolName: "weather_forecast" });
});

test("--search says when nothing is found, and refuses a limit that is no number", async () => {
  await using here = await machine();
  expect(await here.run("tools", "--search", "zzzz")).toEqual({
    code: 0,
    stdout: "",
    stderr: 'No tool found for "zzzz". All tools: fairlead tools\n',
  });
  expect(await here.run("tools", "--search", "words", "--limit", "many")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--limit must be a number from 1 to 1000, not "many"'),
  });
});

test("--tokens shows what the definitions cost, the most expensive first", async () => {
  await using here = await machine();
  const { stdout } = await here.run("tools", "--tokens");
  expect(stdout).toMatch(/^demo: about \d+ tokens, 100 % of all\n +\d+ {2}#+ +greet\n/);
  expect(stdout).toMatch(/A model is offered 6 tools directly, about \d+ tokens/);
  const { tools, servers, tokens } = JSON.parse((await here.run("tools", "--tokens", "--json")).stdout);
  const sum = tools.reduce((all: number, tool: { readonly tokens: number }) => all + tool.tokens, 0);
  expect([servers, tokens]).toEqual([[{ name: "demo", tokens: sum }], sum]);
});

test("--why says whether a model is offered a tool, and why", async () => {
  await using here = await machine();
  expect((await here.run("tools", "--why", "demo.greet")).stdout).toBe(
    "demo.greet is offered to models directly: every tool fits into the budget\n",
  );
  await here.write(userFile, { fairlead: { toolBudget: 50 } });
  const { offered, reason } = JSON.parse((await here.run("tools", "--why", "demo.greet", "--json")).stdout);
  expect([offered, reason]).toEqual([false, "the tool budget is used up; models find the tool by search"]);
  expect(await here.run("tools", "--why", "demo.nope")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('"demo" has no tool "nope"'),
  });
});
