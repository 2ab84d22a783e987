import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ToolConfirmationOutcome } from "@fairlead/core/policy/confirmation";
import { expect, test } from "vitest";
import { builtIns } from "../../src/tui/slash/commands.ts";
import { promptKeys } from "../../src/tui/slash/help-text.ts";
import { offeredKeys } from "../../src/tui/state/confirmation-keys.ts";
import { panelVerbs } from "../../src/tui/state/mcp-panel.ts";
import { confirmation } from "../support/tui/samples.ts";

const page = readFileSync(fileURLToPath(new URL("../../../../docs/terminal.md", import.meta.url)), "utf8");

/** The rows of the first table below a heading. */
function tableUnder(heading: string): readonly (readonly string[])[] {
  const [, section = ""] = page.split(`## ${heading}\n`);
  const [, table = ""] = /^\|[^\n]*\n\| --- [^\n]*\n((?:\|[^\n]*\n)*)/m.exec(section) ?? [];
  return table
    .trimEnd()
    .split("\n")
    .map((row) =>
      row
        .slice(2, -2)
        .split(" | ")
        .map((cell) => cell.replaceAll(/`|\\/g, "")),
    );
}

const { view } = confirmation({ outcomes: Object.values(ToolConfirmationOutcome), canEdit: true });
const answers = offeredKeys(view).map(({ letter, words }) => [letter, words]);

test.each([
  ["Keys", promptKeys],
  ["Confirmations", answers],
  ["Servers", panelVerbs.map(({ letter, words }) => [letter, words])],
  ["Commands", builtIns.map(({ name, usage, summary }) => [["/", name, usage && ` ${usage}`].join(""), summary])],
])("the table of docs/terminal.md under %s is the one in the code", (heading, rows) => {
  expect(tableUnder(heading)).toEqual(rows);
});

test("every picture of the page is there", () => {
  const pictures = [...page.matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(([, file = ""]) => file);
  expect(pictures).toHaveLength(5);
  for (const file of pictures)
    expect(readFileSync(fileURLToPath(new URL(`../../../../docs/${file}`, import.meta.url)), "utf8")).toMatch(/^<svg /);
});
