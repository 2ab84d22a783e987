/** Pages of the documentation whose commands are run as a reader would type them. */

import { execFile, execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { realServer, temporaryFolder } from "@fairlead/test-servers";
import { expect } from "vitest";
import { shownBy } from "./machine.ts";
import { program } from "./process.ts";

export interface Step {
  readonly line: string;
  readonly shown: readonly string[];
}

/** The text of a page; `page` is a path below `docs`. */
export function readPage(page: string): string {
  return readFileSync(fileURLToPath(new URL(`../../../../docs/${page}`, import.meta.url)), "utf8");
}

/** The commands of all console blocks, each with what the page shows beneath it. */
export function stepsOf(page: string): readonly Step[] {
  return stepsIn(readPage(page));
}

export function stepsIn(markdown: string): readonly Step[] {
  return [...markdown.matchAll(/```console\n([\s\S]*?)```/g)].flatMap(([, block = ""]) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((step) => {
        const [line = "", ...shown] = step.trimEnd().split("\n");
        return { line, shown };
      }),
  );
}

/** The shown lines, in order; `…` stands for any lines. */
export function linesPattern(shown: readonly string[]): RegExp {
  return new RegExp(`^${shown.map((line) => (line === "…" ? "(?:.*\n)*?" : `${literally(line)}\n`)).join("")}$`);
}

export function literally(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** The words that a real shell makes of a command line of ours. Starts no shell for a line without special characters. */
export function shellWords(line: string): readonly string[] {
  if (/^fairlead[\w@%+=:,./ -]*$/.test(line)) return line.split(/ +/).slice(1);
  const script = `fairlead() { printf '%s\\0' "$@"; }\n${line}`;
  return execFileSync("sh", ["-c", script], { encoding: "utf8" }).split("\0").slice(0, -1);
}

/** One command of ours and nothing else that a shell would act on. */
export const plainLine: RegExp = /^fairlead(?: +(?:'[^']*'|"[^"$`\\]*"|[\w@%+=:,./-])+)+$/;

/**
 * One after the other, in one folder of one home, with `files` in it. Lines that need a shell get one, with the built
 * command; so does the first line of a page that has none. The others run in this process: to start 15 is slow.
 */
export async function runSteps(steps: readonly Step[], files: Readonly<Record<string, string>> = {}): Promise<void> {
  await using home = await temporaryFolder();
  for (const [name, content] of Object.entries({ ".keep": "", ...files })) await home.write(`project/${name}`, content);
  // What npx would fetch is installed here.
  const { command, args } = realServer("everything");
  await home.write("bin/npx", `#!/bin/sh\nexec "${command}" "${args.join('" "')}" stdio\n`);
  await home.write("bin/fairlead", `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  await Promise.all(["npx", "fairlead"].map((name) => chmod(join(home.path, "bin", name), 0o755)));
  const env = { PATH: `${home.path}/bin:${process.env["PATH"]}`, HOME: home.path, NO_COLOR: "1" };
  const cwd = join(home.path, "project");
  const isPlain = steps.map(({ line }) => plainLine.test(line));
  if (!isPlain.includes(false)) isPlain[0] = false;
  for (const [at, { line, shown }] of steps.entries()) {
    const output = isPlain[at]
      ? await shownBy(shellWords(line), { home: home.path, cwd, env })
      : await shownByShell(line, { cwd, env });
    expect(output.replaceAll(home.path, "/home/ada"), line).toMatch(linesPattern(shown));
  }
}

/** What talks and what answers are two streams: on a page they stand in the order in which they come. */
function shownByShell(line: string, options: { cwd: string; env: Readonly<Record<string, string>> }): Promise<string> {
  return new Promise((resolve) => {
    // Whether a line fails is on the page, as its words are.
    const shell = execFile("bash", ["-c", `{ ${line}; } 2>&1`], { ...options }, (_error, stdout) => resolve(stdout));
    shell.stdin?.end();
  });
}
