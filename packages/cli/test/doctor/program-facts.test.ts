import { chmod, symlink } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { programPlace } from "@fairlead/core/trust/programs";
import { temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { type ProgramFacts, readNodeFacts, readProgramFacts } from "../../src/doctor/check-programs.ts";
import { type Machine, machine } from "../support/machine.ts";
import { definition, origin } from "../support/server-definition.ts";

type Configuration = Parameters<typeof readProgramFacts>[0];

async function program(here: Pick<Machine, "write">, name: string, text = "#!/bin/sh\n"): Promise<string> {
  const path = await here.write(name, text);
  await chmod(path, 0o755);
  return path;
}

const configurationOf = (here: Machine, path: string): Configuration => ({
  environment: { env: { PATH: path }, home: here.home, cwd: here.project, platform: "linux" },
  locations: { root: here.project } as Configuration["locations"],
  trust: { trusted: true } as Configuration["trust"],
});

async function launchOf(here: Machine, command: string, path: string): Promise<ProgramFacts["launches"][number]> {
  const transport = { kind: "stdio", command, args: [], env: new Map() } as const;
  const { launches } = await readProgramFacts(configurationOf(here, path), [
    definition({ transport, resolved: transport }),
    definition({ transport }),
  ]);
  const [launch, ...others] = launches;
  expect(others).toEqual([]);
  return launch ?? { server: "", origin, command: "", droppedPath: [] };
}

describe("the program of a server", () => {
  const base = { server: "s", origin, droppedPath: [] };

  test("is found on PATH, with the interpreter that its first line names", async () => {
    await using here = await machine();
    const file = await program(here, "bin/tool", "#!/usr/bin/env no-such-interpreter\n");
    const path = join(here.path, "bin");
    expect(await launchOf(here, "tool", path)).toEqual({
      ...base,
      command: "tool",
      file,
      interpreter: { name: "no-such-interpreter", isFound: false },
    });
    const other = await program(here, "bin/other", "#!/bin/sh\n");
    expect(await launchOf(here, "other", path)).toEqual({
      ...base,
      command: "other",
      file: other,
      interpreter: { name: "/bin/sh", isFound: true },
    });
  });

  test.each([
    [".volta/bin", "volta"],
    [".asdf/shims", "asdf"],
    [".local/share/mise/shims", "mise"],
    [".pyenv/shims", "pyenv"],
    [".bun/bin", "bun"],
    [".deno/bin", "deno"],
    [".cargo/bin", "cargo"],
    [".local/bin", "uv or pipx"],
    [".local/share/fnm/node-versions/v1/installation/bin", "fnm"],
    ["Library/Application Support/fnm/node-versions/v1/installation/bin", "fnm"],
    [".nvm/versions/node/v1/bin", "nvm"],
  ])("that is only in %s is found there, in a folder of %s", async (folder, manager) => {
    await using here = await machine();
    await program(here, `home/${folder}/only-there`);
    expect(await launchOf(here, "only-there", "/nowhere")).toEqual({
      ...base,
      command: "only-there",
      elsewhere: { manager, folder: join(here.home, folder) },
    });
  });

  test("is looked for in the newest version first, and not at all if it is a path", async () => {
    await using here = await machine();
    for (const version of ["v9.1.0", "v22.3.0", "v20.1.0"])
      await program(here, `home/.nvm/versions/node/${version}/bin/only-there`);
    const { elsewhere } = await launchOf(here, "only-there", "/nowhere");
    expect(elsewhere).toEqual({ manager: "nvm", folder: join(here.home, ".nvm/versions/node/v22.3.0/bin") });
    const path = join(here.path, "gone/only-there");
    expect(await launchOf(here, path, "/nowhere")).toEqual({ ...base, command: path });
  });

  test.each([
    [".nvm/versions/node/v1/bin", "nvm"],
    ["run/fnm_multishells/1_2/bin", "fnm"],
    ["fnm/node-versions/v1/installation/bin", "fnm"],
    [".volta/bin", "volta"],
    [".asdf/shims", "asdf"],
    [".local/share/mise/shims", "mise"],
    [".pyenv/shims", "pyenv"],
    [".volta/bin/deeper", undefined],
    [".local/bin", undefined],
  ])("that PATH has in %s is in a folder of %s", async (folder, manager) => {
    await using here = await machine();
    const file = await program(here, `home/${folder}/tool`, "binary");
    const managed = manager === undefined ? {} : { managed: { manager, folder: join(here.home, folder) } };
    expect(await launchOf(here, "tool", join(here.home, folder))).toEqual({
      ...base,
      command: "tool",
      file,
      ...managed,
    });
    expect(await launchOf(here, file, "/nowhere")).toEqual({ ...base, command: file, file });
  });
});

describe("Node, npx and PATH", () => {
  const read = (here: Machine, path: string) => readNodeFacts(programPlace(configurationOf(here, path)));

  test("the same Node is not another one, even behind a link", async () => {
    await using here = await machine();
    await using bin = await temporaryFolder();
    await symlink(process.execPath, join(bin.path, "node"));
    expect(await read(here, bin.path)).toEqual({
      node: { version: process.version, file: process.execPath },
      relativePath: [],
    });
  });

  test("another Node, npx and folders of PATH that are not absolute are named", async () => {
    await using here = await machine();
    await using bin = await temporaryFolder();
    const [node, npx] = [await program(bin, "node"), await program(bin, "npx")];
    expect(await read(here, ["bin", bin.path, "", "./x"].join(delimiter))).toEqual({
      node: { version: process.version, file: process.execPath, other: node },
      npx,
      relativePath: ["bin", "", "./x"],
    });
    expect((await read(here, "")).relativePath).toEqual([]);
  });
});
