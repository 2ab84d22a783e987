import { spawnSync } from "node:child_process";
import { chmod, readFile, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { realServer, temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { endingBy } from "../support/machine.ts";
import { linesPattern, plainLine, shellWords, stepsIn } from "../support/page.ts";
import { program } from "../support/process.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "../../../..");

describe("the README", async () => {
  const readme = await readFile(join(root, "README.md"), "utf8");
  const steps = stepsIn(readme);

  test("every command it shows works, and prints what it shows", async () => {
    expect(steps.length).toBeGreaterThan(8);
    await using home = await temporaryFolder();
    await home.write(
      "project/.gemini/settings.json",
      '{ "mcpServers": { "db": { "command": "./tools/db-server", "args": ["--read-only"] } } }\n',
    );
    await home.write("notes/knots.txt", "bowline\n");
    // What npx would fetch is installed here; the version is pinned in both places.
    const { command, args } = realServer("filesystem");
    await home.write("bin/npx", `#!/bin/sh\nexec "${command}" "${args.join('" "')}" "$3"\n`);
    await chmod(join(home.path, "bin/npx"), 0o755);
    const cwd = join(home.path, "project");
    const env = {
      // As npx sets it: with the command on it.
      PATH: [join(home.path, "bin"), join(root, "node_modules/.bin"), process.env["PATH"]].join(":"),
      HOME: home.path,
      NO_COLOR: "1",
      FAIRLEAD_SECRET_STORE: "file",
    };
    const inShell = (line: string) => {
      const script = line.replaceAll("npx fairlead", `"${process.execPath}" "${program}"`);
      const { stdout, status } = spawnSync("bash", ["-c", `${script} 2>&1`], { cwd, env, encoding: "utf8" });
      return { code: status, shown: stdout };
    };
    for (const [at, { line, shown }] of steps.entries()) {
      const own = line.replace(/^npx /, "");
      // The first lines and those that need a shell run as a reader would type them; the others run in this process.
      const ending =
        at > 1 && plainLine.test(own) ? await endingBy(shellWords(own), { home: home.path, cwd, env }) : inShell(line);
      const output = ending.shown.replaceAll(home.path, "/home/ada").replace(/\n?$/, "\n");
      expect({ line, code: ending.code }).toEqual({ line, code: 0 });
      expect(output, line).toMatch(linesPattern(shown));
    }
  });

  test("the library example runs as it stands", async () => {
    const [, example = ""] = /```ts\n([\s\S]*?)```/.exec(readme) ?? [];
    // Node 20 knows no `await using`; what it means is the same.
    await using home = await temporaryFolder();
    const file = await home.write("example.mjs", example.replace("await using host", "const host"));
    // As if the library were installed beside it.
    await symlink(join(root, "node_modules"), join(home.path, "node_modules"));
    const { stdout, stderr } = spawnSync(process.execPath, [file], {
      cwd: home.path,
      env: { PATH: process.env["PATH"], HOME: home.path, NO_COLOR: "1" },
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    expect(stdout).toContain("demo__greet");
    expect(stdout).toContain("Hello, Ada!");
  });

  test("the two commands of the first screen are there", () => {
    expect(readme.slice(0, 1200)).toContain("npm install && npm start");
    expect(readme.slice(0, 1200)).toContain("npm install && npm test");
  });
});
