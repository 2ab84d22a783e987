import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { machine, projectFile, userFile } from "./machine.ts";

const page = readFileSync(fileURLToPath(new URL("../../../docs/recipes.md", import.meta.url)), "utf8");
const recipes = [...page.matchAll(/```console\n(fairlead mcp add .*?)\n```\n\n```json\n(.*?)\n```/gs)].map(
  ([, command = "", settings = ""]) => ({ command, settings }),
);

/** The words that a real shell makes of a command line. */
function shellWords(command: string): readonly string[] {
  const script = `fairlead() { printf '%s\\0' "$@"; }\n${command}`;
  return execFileSync("sh", ["-c", script], { encoding: "utf8" }).split("\0").slice(0, -1);
}

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
