import { expect, test } from "vitest";
import { machine, projectFile, userFile } from "../support/machine.ts";
import { readPage, shellWords } from "../support/page.ts";

const page = readPage("recipes.md");
const recipes = [...page.matchAll(/```console\n(fairlead mcp add .*?)\n```\n\n```json\n(.*?)\n```/gs)].map(
  ([, command = "", settings = ""]) => ({ command, settings }),
);

test("every command of the page has its entry beneath it", () => {
  expect(recipes).toHaveLength(page.split("```console\n").length - 1);
  expect(recipes).toHaveLength(page.split("```json\n").length - 1);
  expect(recipes.length).toBeGreaterThan(10);
});

test.each(recipes)("$command", async ({ command, settings }) => {
  await using host = await machine();
  const words = shellWords(command);
  // What is installed here, and what its servers answer, is not the page's affair.
  const { code, stderr } = await host.run("mcp", "add", "--no-test", ...words.slice(2));
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const written = await host.read(words.includes("user") ? userFile : projectFile);
  expect(JSON.parse(written)).toEqual(JSON.parse(settings));
  // The order of keys is part of what is shown.
  expect(JSON.stringify(JSON.parse(written))).toBe(JSON.stringify(JSON.parse(settings)));
});
