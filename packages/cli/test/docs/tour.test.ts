import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { realServer, temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { linesPattern, type Step, stepsOf } from "../support/page.ts";
import { program } from "../support/process.ts";

const mark = "=== next command ===";
const run = promisify(execFile);

/** What one shell prints for each command, with its exit code. The commands share folder and variables. */
async function inOneShell(steps: readonly Step[], options: { cwd: string; env: Readonly<Record<string, string>> }) {
  const script = steps.map(({ line }) => `${line}\necho "$?"\necho "${mark}"`).join("\n");
  const { stdout } = await run("bash", ["-c", `exec 2>&1\n${script}`], options);
  return stdout.split(`${mark}\n`).slice(0, -1);
}

describe("the tour", () => {
  const steps = stepsOf("tour.md");

  // Each round starts some 25 programs.
  test("works from an empty home, twice, and leaves the home as it was", { timeout: 300_000 }, async () => {
    expect(steps.length).toBeGreaterThan(20);
    await using home = await temporaryFolder();
    // What npx would fetch is installed here; the version is pinned in both places.
    const { command, args } = realServer("filesystem");
    await home.write("bin/npx", `#!/bin/sh\nexec "${command}" "${args.join('" "')}" "$3"\n`);
    await home.write("bin/fairlead", `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
    for (const name of ["npx", "fairlead"]) await chmod(join(home.path, "bin", name), 0o755);
    const before = await readdir(home.path, { recursive: true });
    const env = { PATH: `${home.path}/bin:${process.env["PATH"]}`, HOME: home.path, TMPDIR: home.path, NO_COLOR: "1" };
    for (const round of ["first", "second"]) {
      const shown = await inOneShell([...steps, { line: 'echo "$HOME"', shown: [] }], { cwd: home.path, env });
      const used = shown.at(-1)?.split("\n")[0] ?? "";
      expect(existsSync(used), round).toBe(false);
      for (const [at, { line, shown: expected }] of steps.entries())
        expect((shown[at] ?? "").replaceAll(used, "/home/ada"), `${round}: ${line}`).toMatch(
          linesPattern([...expected, "0"]),
        );
      expect(await readdir(home.path, { recursive: true })).toEqual(before);
    }
  });

  test("has the same commands in both READMEs", async () => {
    const pages = ["README.md", "README.zh-CN.md"].map((name) => new URL(`../../../../${name}`, import.meta.url));
    const [english, chinese] = await Promise.all(pages.map((page) => readFile(page, "utf8")));
    const blocksOf = (text = ""): readonly string[] =>
      [...text.matchAll(/```(?:sh|console|ts)\n([\s\S]*?)```/g)].map(([, block = ""]) =>
        // What follows a number sign is said in the page's own language.
        block.replaceAll(/ *#.*$/gm, ""),
      );
    const sectionsOf = (text = ""): number => [...text.matchAll(/^## /gm)].length;
    const linksOf = (text = ""): readonly string[] =>
      [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link = ""]) => link).filter((link) => !link.startsWith("README"));
    expect(blocksOf(chinese)).toEqual(blocksOf(english));
    expect(sectionsOf(chinese)).toBe(sectionsOf(english));
    expect(linksOf(chinese).toSorted()).toEqual(linksOf(english).toSorted());
    expect([english, chinese].map((text) => /README(?:\.zh-CN)?\.md/.exec(text ?? "")?.[0])).toEqual([
      "README.zh-CN.md",
      "README.md",
    ]);
  });
});
