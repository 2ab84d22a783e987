import { describe, expect, test } from "vitest";
import { readPage, runSteps, stepsOf } from "../support/page.ts";

const page = readPage("lock.md");
const [, settings = ""] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
const [, workflow = ""] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];

describe("docs/lock.md", () => {
  test("every command works as it stands, and prints what is shown", async () => {
    const steps = stepsOf("lock.md");
    expect(steps).toHaveLength(7);
    await runSteps(steps, { ".gemini/settings.json": settings });
  });

  test("the workflow runs the action of this repository, and gives it no more than it needs", () => {
    expect(workflow).toContain("- uses: fairlead/fairlead@");
    expect(workflow).toContain("permissions:\n  contents: read\n");
    expect(workflow).not.toContain("pull_request_target");
  });
});
