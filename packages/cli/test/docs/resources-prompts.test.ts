import { expect, test } from "vitest";
import { machine } from "../support/machine.ts";
import { runSteps, stepsOf } from "../support/page.ts";

test.each([
  ["resources.md", 12],
  ["prompts.md", 6],
])("every command of docs/%s works as it stands, and prints what is shown", async (page, least) => {
  const steps = stepsOf(page);
  expect(steps.length).toBeGreaterThan(least);
  await runSteps(steps);
});

test.each(["resources", "read", "prompts", "prompt"])("every example of fairlead %s --help works", async (verb) => {
  await using here = await machine();
  const { stdout } = await here.run(verb, "--help");
  const [, examples = ""] = stdout.split("Examples:\n");
  const lines = examples.split("\n").map((line) => line.trim().replace(/^fairlead /, "$ fairlead "));
  // What npx fetches is the affair of the tests of real servers.
  const steps = lines.filter((line) => line.startsWith("$ ") && !line.includes("npx")).map((line) => line.slice(2));
  expect(steps.length).toBeGreaterThan(2);
  for (const step of steps) {
    const words = step.replaceAll("'", "").split(" ").slice(1);
    expect(await here.run(...words), step).toMatchObject({ code: 0, stdout: expect.stringMatching(/\S/) });
  }
});
