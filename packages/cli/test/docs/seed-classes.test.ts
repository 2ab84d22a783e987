import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, symlink } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { realServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { blocksOf } from "../support/doc-blocks.ts";
import { machine } from "../support/machine.ts";

const page = "docs/seed-classes.md";
const root = fileURLToPath(new URL("../../../..", import.meta.url));
const mark = "---";

test("every class has a program that prints what the page shows", async () => {
  await using here = await machine();
  const blocks = blocksOf(page);
  const programs = blocks.filter(({ fence }) => fence === "js");
  expect(blocks.map(({ fence }) => fence)).toEqual(programs.flatMap(() => ["js", "text"]));
  // In the place of npx, which would download the package.
  const { command, args } = realServer("filesystem");
  const npx = await here.write("bin/npx", `#!/bin/sh\nshift 2\nexec "${command}" ${args.join(" ")} "$@"\n`);
  await chmod(npx, 0o755);
  await here.write("project/notes.txt", "Buy milk");
  await here.write("project/package.json", { type: "module" });
  await mkdir(join(here.project, "node_modules/@fairlead"), { recursive: true });
  await symlink(join(root, "node_modules/@fairlead/core"), join(here.project, "node_modules/@fairlead/core"));
  for (const [at, { code }] of programs.entries()) await here.write(`project/program-${at}.js`, `${code}\n`);
  // One process imports the programs one after the other.
  const all = programs.map((_, at) => `await import("./program-${at}.js");\nconsole.log("${mark}");\n`).join("");
  await here.write("project/all.js", all);
  const env = {
    ...here.env,
    PATH: `${join(npx, "..")}${delimiter}${process.env["PATH"]}`,
    FAIRLEAD_SECRET_STORE: "file",
  };
  const child = spawn(process.execPath, ["all.js"], { cwd: here.project, env });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  const shown = blocks.filter(({ fence }) => fence === "text").map(({ code }) => `${code}\n`);
  expect({ stderr, printed: stdout.split(`${mark}\n`).slice(0, -1) }).toEqual({ stderr: "", printed: shown });
});
