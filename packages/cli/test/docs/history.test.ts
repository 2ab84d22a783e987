import { describe, expect, test } from "vitest";
import { machine, userFile } from "../support/machine.ts";
import { readPage, stepsOf } from "../support/page.ts";

const page = readPage("history.md");
const [, settings = ""] = /```json\n([\s\S]*?)```/.exec(page) ?? [];

/** Times, and the width of a column that depends on them, are others every time. */
function timeless(text: string): string {
  return text
    .replaceAll(/\d{4}-[\d-]+ [\d:]+/g, "TIME")
    .replaceAll(/\d+ ms/g, "N ms")
    .replaceAll(/ {2,}/g, "  ");
}

describe("docs/history.md", () => {
  test("every command works as it stands, and prints what is shown", async () => {
    const steps = stepsOf("history.md");
    expect(steps).toHaveLength(3);
    await using here = await machine();
    for (const { line, shown } of steps) {
      const { stdout, stderr } = await here.run(...line.split(" ").slice(1));
      expect(timeless(`${stdout}${stderr}`), line).toBe(timeless(`${shown.join("\n")}\n`));
    }
  });

  test("its settings are settings", async () => {
    await using here = await machine({ [userFile]: settings });
    expect(await here.run("settings", "validate")).toMatchObject({ code: 0 });
  });

  test("every option of the command is on it", async () => {
    await using here = await machine();
    const { stdout } = await here.run("history", "--help");
    const [, own = ""] = /Options:\n([\s\S]*?)\n\n/.exec(stdout) ?? [];
    const options = [...own.matchAll(/^ {2}(--[a-z]+)/gm)].map(([, option = ""]) => option);
    expect(options).toHaveLength(8);
    for (const option of options) expect(page).toContain(`\`${option}`);
  });
});
