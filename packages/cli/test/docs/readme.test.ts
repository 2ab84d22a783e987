import { spawnSync } from "node:child_process";
import { readFile, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";

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
