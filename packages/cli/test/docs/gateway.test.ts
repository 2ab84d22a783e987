import { describe, expect, test } from "vitest";
import { machine } from "../support/machine.ts";
import { linesPattern, readPage, shellWords, stepsOf } from "../support/page.ts";

const page = readPage("gateway.md");

describe("docs/gateway.md", () => {
  test("every command works as it stands, and prints what is shown", async () => {
    await using here = await machine();
    const steps = stepsOf("gateway.md");
    expect(steps).toHaveLength(2);
    for (const { line, shown } of steps) {
      const { code, stdout, stderr } = await here.run(...shellWords(line));
      expect(code, line).toBe(0);
      expect(stdout || stderr, line).toMatch(linesPattern(shown));
    }
  });

  test("every option of the commands is on the page", async () => {
    await using here = await machine();
    const commands = ["serve", "daemon status", "daemon stop", "daemon restart", "daemon logs", "approvals allow"];
    for (const command of commands) {
      expect(page).toContain(`fairlead ${command}`);
      const { stdout } = await here.run(...command.split(" "), "--help");
      const [, options = ""] = /Options:\n([\s\S]*?)\n\n/.exec(stdout) ?? [];
      for (const [, option = ""] of options.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm))
        expect(`${page} --help --follow`, command).toContain(option);
    }
  });
});
