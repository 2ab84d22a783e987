import { spawnSync } from "node:child_process";
import { readFile, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { machine } from "../support/machine.ts";
import { shellWords } from "../support/page.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "../../../..");

describe("the README", async () => {
  const readme = await readFile(join(root, "README.md"), "utf8");

  test("the library example runs as it stands", async () => {
    const [, example = ""] = /```ts\n([\s\S]*?)```/.exec(readme) ?? [];
    await using home = await temporaryFolder();
    const file = await home.write("example.mjs", example);
    // As if the library were installed beside it.
    await symlink(join(root, "node_modules"), join(home.path, "node_modules"));
    const { stdout, stderr } = spawnSync(process.execPath, [file], {
      cwd: home.path,
      env: { PATH: process.env["PATH"], HOME: home.path, NO_COLOR: "1" },
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    expect(stdout).toContain("Hello, Ada!");
  });

  test("the two commands of the first screen are there", () => {
    expect(readme.slice(0, 1200)).toContain("npm install && npm start");
    expect(readme.slice(0, 1200)).toContain("npm install && npm test");
  });
});

/** What must be the same in both languages: the order of headings, commands, rows and links. */
function outlineOf(text: string): readonly string[] {
  const outline: string[] = [];
  let isCode = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) isCode = !isCode;
    // What follows a number sign is said in the page's own language.
    if (isCode) outline.push(line.replace(/ *#.*$/, ""));
    else if (line.startsWith("#")) outline.push("heading");
    else if (line.startsWith("- ")) outline.push("reason");
    else if (line.startsWith("|")) outline.push(`row of ${line.split("|").length}`);
    for (const [, link = ""] of line.matchAll(/(?:\]\(|src=")([^)"]+)/g))
      outline.push(link.replace(".zh-CN.md", ".md"));
  }
  return outline;
}

test("the README says the same in English and in Chinese, and each links to the other", async () => {
  const [english = "", chinese = ""] = await Promise.all(
    ["README.md", "README.zh-CN.md"].map((name) => readFile(join(root, name), "utf8")),
  );
  expect(outlineOf(chinese)).toEqual(outlineOf(english));
  expect(english).toContain("](README.zh-CN.md)");
  expect(chinese).toContain("](README.md)");
  const without = (text: string, section: number): string =>
    text
      .split(/^(?=## )/m)
      .filter((_, at) => at !== section)
      .join("");
  // The comparison notices each section that one of them lacks.
  const sections = english.split(/^(?=## )/m);
  expect(sections.length).toBeGreaterThan(5);
  for (const at of sections.keys()) expect(outlineOf(without(chinese, at))).not.toEqual(outlineOf(english));
});

test("the first commands of the README work from a home with nothing but another program's settings", async () => {
  const readme = await readFile(join(root, "README.md"), "utf8");
  const [, block = ""] = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, code = ""]) => code);
  const lines = block
    .trimEnd()
    .split("\n")
    .map((line) => line.replace(/ *#.*$/, ""));
  await using here = await machine({
    "home/.claude/settings.json": {},
    "home/.claude.json": { mcpServers: { notes: { command: "npx", args: ["-y", "notes-server@1.0.0"] } } },
  });
  const shown = [
    { code: 0, stdout: "Hello, Ada!\n" },
    { code: 0, stdout: expect.stringContaining("notes: add\n  from Claude Code (") as string },
    // On a terminal, it asks here.
    {
      code: 2,
      stderr: expect.stringMatching(/^Claude Code: .*\n[\s\S]*"fairlead"[\s\S]*no terminal to ask on/) as string,
    },
    {
      code: 0,
      stderr: expect.stringMatching(/^No browser could be started[\s\S]*http:\/\/127\.0\.0\.1:\d+\/#k=/) as string,
    },
    { code: 0, stdout: expect.stringContaining("\nNext\n") as string },
  ];
  expect(lines).toHaveLength(shown.length);
  for (const [at, line] of lines.entries()) {
    // The console is closed at once.
    const options = line === "fairlead console" ? { signal: AbortSignal.abort() } : {};
    expect([line, await here.runWith(options, ...shellWords(line))]).toMatchObject([line, shown[at]]);
  }
  await here.run("daemon", "stop");
});
