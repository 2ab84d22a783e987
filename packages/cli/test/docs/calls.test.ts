import { expect, test } from "vitest";
import { runSteps, stepsOf } from "../support/page.ts";

test("every command of docs/calls.md works as it stands, and prints what is shown", async () => {
  const steps = stepsOf("calls.md");
  expect(steps.length).toBeGreaterThan(15);
  await runSteps(steps, { "notes.txt": "bowline hitch" });
});
