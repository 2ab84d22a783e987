import { expect, test } from "vitest";
import { readPage, runSteps, stepsOf } from "../support/page.ts";

test("docs/recordings-and-mocks.md: every command works as it stands, and prints what is shown", async () => {
  const steps = stepsOf("recordings-and-mocks.md");
  expect(steps).toHaveLength(4);
  await runSteps(steps);
});

test("docs/testing-servers.md: the file of checks passes", async () => {
  const [, checks = ""] = /```yaml\n([\s\S]*?)```/.exec(readPage("testing-servers.md")) ?? [];
  const steps = stepsOf("testing-servers.md");
  expect(steps).toHaveLength(2);
  await runSteps(steps, { "checks.yaml": checks });
});
