import { stdioServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { machine, userFile } from "../support/machine.ts";
import { literally, readPage, shellWords } from "../support/page.ts";
import { pathOf, shellProgram } from "../support/path-program.ts";

const page = readPage("doctor.md");
const blocks = [...page.matchAll(/```console\n\$ (.*)\n([\s\S]*?)```/g)].map(([, line = "", shown = ""]) => ({
  line,
  shown,
}));
const [settings = ""] = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json = ""]) => json);

/** The shown text; `…` stands for the rest of a word or of a few. */
function pattern(shown: string): RegExp {
  return new RegExp(`^${literally(shown).replaceAll("…", ".+")}$`);
}

describe("docs/doctor.md", () => {
  test("every console block is a command and what it prints", () => {
    expect(blocks.map(({ line }) => line)).toEqual(["fairlead doctor", "fairlead mcp pin memory"]);
    expect(page.split("```console\n")).toHaveLength(blocks.length + 1);
  });

  test.each(blocks)("$line", async ({ line, shown }) => {
    await using here = await machine({ [userFile]: settings });
    await shellProgram(here, "programs/npx", `exec ${commandLine(stdioServer("well-behaved"))}`);
    await shellProgram(here, "programs/npm", `echo '"2026.1.14"'`);
    const env = { PATH: pathOf(here, "programs"), FAIRLEAD_SECRET_STORE: "file" };
    const { code, stdout, stderr } = await here.runWith({ env }, ...shellWords(line));
    expect(code).toBe(0);
    expect(`${stdout}${stderr}`).toMatch(pattern(shown));
  });
});
