import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { readPage } from "../support/page.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const run = promisify(execFile);

test("no page has people run a package whose name a stranger could register", () => {
  const pagesIn = (folder: string): readonly string[] =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .map((name) => join(folder, name));
  const packages = ["cli", "core", "wire"].map((name) => `packages/${name}/README.md`);
  // The changelog tells that earlier pages did.
  const own = readdirSync(root).filter((name) => name.endsWith(".md") && name !== "CHANGELOG.md");
  const pages = [...own, "action.yml", ...packages, ...pagesIn("docs"), ...pagesIn("skills")];
  const claimed = /\bnpx +(?!--no -- )(?:-\S+ +)*@?fairlead\b|\bnpm +(?:i|install|add) +(?:-\S+ +)*@?fairlead\b/;
  expect(pages.length).toBeGreaterThan(50);
  expect(pages.filter((page) => claimed.test(readFileSync(join(root, page), "utf8")))).toEqual([]);
});

test("docs/install.md names the files of this version", () => {
  const { version } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8")) as { version: string };
  const named = [...readPage("install.md").matchAll(/fairlead(?:-core|-wire)?[-_]([0-9]+[.][0-9]+[.][0-9]+)/g)];
  expect(named.length).toBeGreaterThan(5);
  expect(new Set(named.map(([, name]) => name))).toEqual(new Set([version]));
});

test("a clone's command is installed and removed as docs/install.md says", async () => {
  const [, section = ""] = readPage("install.md").split("## Clone\n");
  const [install] = /^npm install -g .*$/m.exec(section) ?? [""];
  const [, remove = ""] = /^\| remove \| `([^`]*)`/m.exec(section) ?? [];
  await using home = await temporaryFolder();
  const env = { PATH: process.env["PATH"], HOME: home.path, npm_config_prefix: home.path, npm_config_offline: "true" };
  const shell = (line: string, cwd: string) => run("sh", ["-c", line], { cwd, env });
  await shell(install, root);
  const { stdout } = await shell(`"$HOME/bin/fairlead" call demo.greet name=Ada`, home.path);
  expect(stdout).toBe("Hello, Ada!\n");
  await shell(remove, home.path);
  expect(readdirSync(join(home.path, "bin"))).toEqual([]);
});
