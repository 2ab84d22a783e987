/** Pages of the documentation whose commands are run as a reader would type them. */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { realServer, temporaryFolder } from "@fairlead/test-servers";
import { expect } from "vitest";
import { program } from "./process.ts";

interface Step {
  readonly line: string;
  readonly shown: readonly string[];
}

/** The commands of all console blocks, each with what the page shows beneath it. */
export function stepsOf(page: string): readonly Step[] {
  const text = readFileSync(fileURLToPath(new URL(`../../../docs/${page}`, import.meta.url)), "utf8");
  return [...text.matchAll(/```console\n([\s\S]*?)```/g)].flatMap(([, block = ""]) =>
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
function pattern(shown: readonly string[]): RegExp {
  const literally = (line: string): string => line.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${shown.map((line) => (line === "…" ? "(?:.*\n)*?" : `${literally(line)}\n`)).join("")}$`);
}

/** One after the other, in one folder of one home, with `files` in it. */
export async function runSteps(steps: readonly Step[], files: Readonly<Record<string, string>> = {}): Promise<void> {
  await using home = await temporaryFolder();
  for (const [name, content] of Object.entries({ ".keep": "", ...files })) await home.write(`project/${name}`, content);
  // What npx would fetch is installed here.
  const { command, args } = realServer("everything");
  await home.write("bin/npx", `#!/bin/sh\nexec "${command}" "${args.join('" "')}" stdio\n`);
  await home.write("bin/fairlead", `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  await Promise.all(["npx", "fairlead"].map((name) => chmod(join(home.path, "bin", name), 0o755)));
  const env = { PATH: `${home.path}/bin:${process.env["PATH"]}`, HOME: home.path, NO_COLOR: "1" };
  for (const { line, shown } of steps) {
    // What talks and what answers are two streams: on a page they stand in the order in which they come.
    const options = { cwd: join(home.path, "project"), env, encoding: "utf8" } as const;
    const { stdout } = spawnSync("bash", ["-c", `{ ${line}; } 2>&1`], options);
    expect(stdout.replaceAll(home.path, "/home/ada"), line).toMatch(pattern(shown));
  }
}
