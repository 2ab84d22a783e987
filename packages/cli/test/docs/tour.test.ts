import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { realServer, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { linesPattern, readPage, type Step, stepsIn, stepsOf } from "../support/page.ts";
import { program } from "../support/process.ts";

const mark = "=== next command ===";
const run = promisify(execFile);

/** What one shell prints for each command, with its exit code. The commands share folder and variables. */
async function inOneShell(steps: readonly Step[], options: { cwd: string; env: Readonly<Record<string, string>> }) {
  const script = steps.map(({ line }) => `${line}\necho "$?"\necho "${mark}"`).join("\n");
  const { stdout } = await run("bash", ["-c", `exec 2>&1\n${script}`], options);
  return stdout.split(`${mark}\n`).slice(0, -1);
}

/** The files of a folder with their contents. */
async function contentsOf(folder: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.map(({ parentPath, name }) => join(parentPath, name)).sort();
  const contents = files.map(async (file) => [file, await readFile(file, "utf8").catch(() => "a folder")]);
  return Object.fromEntries(await Promise.all(contents)) as Readonly<Record<string, string>>;
}

test("the tour has the same commands, outputs and pictures in both languages", () => {
  const [english, chinese] = ["tour.md", "tour.zh-CN.md"].map(readPage);
  expect(stepsIn(chinese ?? "")).toEqual(stepsIn(english ?? ""));
  expect(headingsOf(chinese).length).toBe(headingsOf(english).length);
  expect(english).toContain("](tour.zh-CN.md)");
  expect(chinese).toContain("](tour.md)");
});

// Each round starts some 25 programs.
test("the tour works from an empty home, in English and then in Chinese, and leaves the home as it was", {
  timeout: 300_000,
}, async () => {
  await using home = await temporaryFolder();
  // What npx would fetch is installed here; the version is pinned in both places.
  const { command, args } = realServer("filesystem");
  await home.write("bin/npx", `#!/bin/sh\nexec "${command}" "${args.join('" "')}" "$3"\n`);
  await home.write("bin/fairlead", `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  for (const name of ["npx", "fairlead"]) await chmod(join(home.path, "bin", name), 0o755);
  const before = await contentsOf(home.path);
  const env = { PATH: `${home.path}/bin:${process.env["PATH"]}`, HOME: home.path, TMPDIR: home.path, NO_COLOR: "1" };
  for (const page of ["tour.md", "tour.zh-CN.md"]) {
    const steps = stepsOf(page);
    expect(steps.length).toBeGreaterThan(20);
    const shown = await inOneShell([...steps, { line: 'echo "$HOME"', shown: [] }], { cwd: home.path, env });
    const used = shown.at(-1)?.split("\n")[0] ?? "";
    expect(existsSync(used), page).toBe(false);
    for (const [at, { line, shown: expected }] of steps.entries())
      expect((shown[at] ?? "").replaceAll(used, "/home/ada"), `${page}: ${line}`).toMatch(
        linesPattern([...expected, "0"]),
      );
    expect(await contentsOf(home.path)).toEqual(before);
  }
});

function headingsOf(text = ""): readonly string[] {
  return text.match(/^#+ .*$/gm) ?? [];
}
