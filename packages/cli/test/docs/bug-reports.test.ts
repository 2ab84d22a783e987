import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { machine } from "../support/machine.ts";
import { literally, shellWords, stepsOf } from "../support/page.ts";

/** The shown text; `…` stands for any text. */
function pattern(shown: readonly string[]): RegExp {
  return new RegExp(`^${literally(shown.join("\n")).replaceAll("…", "[\\s\\S]+")}\n$`);
}

test("docs/bug-reports.md: every command works as it stands, and prints what is shown", async () => {
  await using here = await machine();
  const steps = stepsOf("bug-reports.md");
  expect(steps).toHaveLength(2);
  for (const { line, shown } of steps) {
    const { stdout, stderr } = await here.run(...shellWords(line));
    expect(`${stdout}${stderr}`, line).toMatch(pattern(shown));
    await rm(join(here.project, "report.md"));
  }
});
