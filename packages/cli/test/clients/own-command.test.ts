import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ownCommand } from "../../src/clients/client-entry.ts";
import { type Machine, machine } from "../support/machine.ts";

/** Node and Fairlead in folders with a version, as package managers install them. */
async function versioned(here: Machine, ...path: readonly string[]) {
  const program = {
    node: await here.write("Cellar/node/22.1.0/bin/node", ""),
    file: await here.write("lib/fairlead@0.2.0/bin/fairlead.cjs", ""),
  };
  for (const folder of path) {
    await mkdir(join(here.path, folder), { recursive: true });
    await symlink(program.node, join(here.path, folder, "node"));
    await symlink(program.file, join(here.path, folder, "fairlead"));
  }
  const env = { PATH: ["", "bin", ...path.map((folder) => join(here.path, folder))].join(":") };
  const found = await ownCommand({ program, env, platform: "linux" }, here.project);
  return [found.command, ...found.args].map((path) => path.slice(here.path.length + 1));
}

test("links in PATH outlive an upgrade", async () => {
  await using here = await machine();
  expect(await versioned(here, "opt/1.2/bin", "usr/bin")).toEqual(["usr/bin/node", "usr/bin/fairlead"]);
});

test("links in the workspace do not count", async () => {
  await using here = await machine();
  expect(await versioned(here, "project/bin")).toEqual([
    "Cellar/node/22.1.0/bin/node",
    "lib/fairlead@0.2.0/bin/fairlead.cjs",
  ]);
});

test("the single executable is started by its own path, or by a link that outlives an upgrade", async () => {
  await using here = await machine();
  const node = await here.write("opt/fairlead-0.2.0-linux-x64/fairlead", "");
  await mkdir(join(here.path, "usr/bin"), { recursive: true });
  const env = { PATH: join(here.path, "usr/bin") };
  const find = () => ownCommand({ program: { node }, env, platform: "linux" }, here.project);
  expect(await find()).toEqual({ command: node, args: [], isTemporary: false });
  await symlink(node, join(here.path, "usr/bin/fairlead"));
  expect(await find()).toEqual({ command: join(here.path, "usr/bin/fairlead"), args: [], isTemporary: false });
});
