import { spawnSync } from "node:child_process";
import { chmod, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";

const root = join(dirname(fileURLToPath(import.meta.url)), "../../..");
const command = join(root, "packages/cli/bin/fairlead.cjs");

interface Step {
  readonly line: string;
  readonly shown: readonly string[];
}

/** The `$ …` lines of console blocks, each with the output that is shown under it. */
function stepsOf(markdown: string): readonly Step[] {
  const blocks = [...markdown.matchAll(/```console\n([\s\S]*?)```/g)].map(([, block]) => block ?? "");
  return blocks.flatMap((block) =>
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
  const lines = shown.map((line) => (line === "…" ? "(?:.*\n)*?" : `${literally(line)}\n`));
  return new RegExp(`^${lines.join("")}$`);
}

function literally(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

describe("the README", async () => {
  const readme = await readFile(join(root, "README.md"), "utf8");
  const steps = stepsOf(readme);

  test("every command it shows works, and prints what it shows", async () => {
    expect(steps.length).toBeGreaterThan(8);
    await using home = await temporaryFolder();
    await home.write(
      "project/.gemini/settings.json",
      '{ "mcpServers": { "db": { "command": "./tools/db-server", "args": ["--read-only"] } } }\n',
    );
    await home.write("notes/knots.txt", "bowline\n");
    // What npx would fetch is installed here; the version is pinned in both places.
    const server = join(root, "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
    await home.write("bin/npx", `#!/bin/sh\nexec "${process.execPath}" "${server}" "$3"\n`);
    await chmod(join(home.path, "bin/npx"), 0o755);
    for (const { line, shown } of steps) {
      const script = line.replaceAll("npx fairlead", `"${process.execPath}" "${command}"`);
      const { stdout, status } = spawnSync("bash", ["-c", `${script} 2>&1`], {
        cwd: join(home.path, "project"),
        env: {
          PATH: `${home.path}/bin:${process.env["PATH"]}`,
          HOME: home.path,
          NO_COLOR: "1",
          FAIRLEAD_SECRET_STORE: "file",
        },
        encoding: "utf8",
      });
      const output = stdout.replaceAll(home.path, "/home/ada").replace(/\n?$/, "\n");
      expect({ line, status }).toEqual({ line, status: 0 });
      expect(output, line).toMatch(pattern(shown));
    }
  });

  test("the library example runs as it stands", async () => {
    const [, example = ""] = /```ts\n([\s\S]*?)```/.exec(readme) ?? [];
    // Node 20 knows no `await using`; what it means is the same.
    const file = join(root, "packages/cli/test", `.readme-example-${process.pid}.mjs`);
    await writeFile(file, example.replace("await using host", "const host"));
    try {
      await using home = await temporaryFolder();
      const { stdout, stderr } = spawnSync(process.execPath, [file], {
        cwd: home.path,
        env: { PATH: process.env["PATH"], HOME: home.path, NO_COLOR: "1" },
        encoding: "utf8",
      });
      expect(stderr).toBe("");
      expect(stdout).toContain("demo__greet");
      expect(stdout).toContain("Hello, Ada!");
    } finally {
      await rm(file);
    }
  });

  test("the two commands of the first screen are there", () => {
    expect(readme.slice(0, 1200)).toContain("npm install && npm start");
    expect(readme.slice(0, 1200)).toContain("npm install && npm test");
  });
});
