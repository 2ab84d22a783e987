import { describe, expect, test } from "vitest";
import { machine } from "../support/machine.ts";
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

  test("the workflow runs a command that there is, and gives it no more than it needs", async () => {
    const [, line = ""] = /- run: npx --yes fairlead (.*)\n/.exec(workflow) ?? [];
    expect(line).toBe("lock verify --trust-workspace");
    await using here = await machine();
    expect(await here.run(...line.split(" "))).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Nothing to verify"),
    });
    expect(workflow).toContain("permissions:\n  contents: read\n");
    expect(workflow).not.toContain("pull_request_target");
  });
});
