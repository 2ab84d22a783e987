import { describe, expect, test } from "vitest";
import { machine, userFile } from "../support/machine.ts";
import { linesPattern, readPage, shellWords, stepsOf } from "../support/page.ts";

const page = readPage("recording.md");
const shownId = "20260131-083000-1a2b3c";

describe("docs/recording.md", () => {
  test("every command works as it stands, and prints what is shown", async () => {
    await using here = await machine();
    let id = shownId;
    const steps = stepsOf("recording.md");
    expect(steps).toHaveLength(7);
    for (const { line, shown } of steps) {
      const { stdout, stderr } = await here.run(...shellWords(line.replaceAll(shownId, id)));
      [id = id] = /\d{8}-\d{6}-[0-9a-f]{6}/.exec(stdout) ?? [];
      const printed = (stdout || stderr).replaceAll(id, shownId).replaceAll(/ {2,}/g, "  ");
      expect(printed.replaceAll(here.project, "~/project"), line).toMatch(
        linesPattern(shown.map((each) => each.replaceAll(/ {2,}/g, "  "))),
      );
    }
  });

  test("its settings are settings", async () => {
    const settings = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
    const own = settings.find((text) => text.includes('"fairlead"')) ?? "";
    await using here = await machine({ [userFile]: own });
    expect(await here.run("settings", "validate")).toMatchObject({ code: 0 });
  });

  test("every type of line is in the table", async () => {
    await using here = await machine();
    const { readFile } = await import("node:fs/promises");
    const source = await readFile(new URL("../../../core/src/conversations/format.ts", import.meta.url), "utf8");
    const types = [...source.slice(source.indexOf("const shapes")).matchAll(/^ {2}(\w+): \(/gm)].map(
      ([, type]) => type,
    );
    expect(types.length).toBeGreaterThan(20);
    for (const type of types) expect(page).toContain(`\`${type}\``);
    for (const command of ["conversations", "show", "replay", "export", "clean"]) {
      const { stdout } = await here.run(command, "--help");
      const [, options = ""] = /Options:\n([\s\S]*?)\n\n/.exec(stdout) ?? [];
      for (const [, option] of options.matchAll(/^ {2}(--[a-z-]+)/gm)) expect(page).toContain(option);
    }
  });
});
