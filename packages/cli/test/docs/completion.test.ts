import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { installationOf } from "../../src/commands/completion.ts";
import { shells } from "../../src/completion/scripts.ts";
import { machine } from "../support/machine.ts";

const page = readFileSync(fileURLToPath(new URL("../../../../docs/completion.md", import.meta.url)), "utf8");
const blocks = [...page.matchAll(/```console\n\$ fairlead (.*)\n([\s\S]*?)```/g)];

test("every command of docs/completion.md works, and prints what is shown", async () => {
  expect(blocks).toHaveLength(page.split("```console\n").length - 1);
  await using here = await machine();
  for (const [, line = "", shown = ""] of blocks) {
    const { code, stdout } = await here.run(...line.split(" "));
    expect([line, code, stdout.replaceAll(here.home, "~")]).toEqual([line, 0, shown.replace("…\n", "")]);
  }
});

test.each(shells)("the page says where the script of %s goes", (shell) => {
  expect(page).toContain(`| \`${shell}\` | \`${installationOf(shell, { env: {}, home: "~" }).file}\` |`);
});

test("every command line that the table names has something to offer", async () => {
  await using here = await machine();
  const [, table = ""] = page.split("| after | Tab offers |\n");
  const lines = [...(table.split("\n\n", 1)[0] ?? "").matchAll(/`fairlead([^`]*)`/g)].map(([, words = ""]) => words);
  expect(lines.length).toBeGreaterThan(5);
  await here.runWith({ stdin: "x" }, "secret", "set", "TOKEN");
  await here.run("mcp", "add", "-s", "user", "--no-test", "mine", "node");
  for (const words of lines) {
    const { stdout } = await here.run("__complete", "fish", ...words.split(" ").slice(1), "");
    expect([words, stdout.split("\n").length > 2]).toEqual([words, true]);
  }
});
