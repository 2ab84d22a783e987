import { chmod, mkdir, realpath, symlink } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { planLaunch } from "../../src/connect/launch.ts";
import type { StdioTransport } from "../../src/settings/define/definition.ts";

/** A machine with a program in `bin`, a home and a workspace. */
async function scene(isTrusted: boolean, env: Readonly<Record<string, string>> = {}) {
  const folder = await temporaryFolder();
  const path = await realpath(folder.path);
  for (const file of ["bin/tool", "work/bin/tool"]) await chmod(await folder.write(file, ""), 0o755);
  await mkdir(join(path, "home"));
  const environment = {
    env: { PATH: `${path}/work/bin:${path}/bin`, ...env },
    platform: process.platform,
    home: join(path, "home"),
    cwd: path,
  };
  const context = { environment, root: join(path, "work"), trusted: isTrusted };
  return {
    path,
    plan: (changes: Partial<StdioTransport> = {}, commonVariables?: Readonly<Record<string, string>>) =>
      planLaunch(
        "s",
        { kind: "stdio", command: "tool", args: ["a"], env: new Map(), ...changes },
        { ...context, commonVariables },
      ),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

test("in a trusted workspace, a program starts there, and is searched for in the whole PATH", async () => {
  await using here = await scene(true, { MY_NAME: "me" });
  const PATH = `${here.path}/work/bin:${here.path}/bin`;
  expect(await here.plan({ env: new Map([["A", "1"]]) }, { COMMON: "2" })).toEqual({
    target: {
      kind: "stdio",
      command: join(here.path, "work/bin/tool"),
      args: ["a"],
      env: { PATH, A: "1", COMMON: "2" },
      cwd: join(here.path, "work"),
    },
    file: join(here.path, "work/bin/tool"),
    droppedPath: [],
    environment: { env: { PATH, A: "1" }, passed: ["PATH"], set: ["A"], withheld: ["MY_NAME"] },
  });
});

test("elsewhere, it starts at home, and entries of PATH in the workspace are left out", async () => {
  await using here = await scene(false);
  expect(await here.plan()).toMatchObject({
    target: {
      command: join(here.path, "bin/tool"),
      env: { PATH: join(here.path, "bin") },
      cwd: join(here.path, "home"),
    },
    file: join(here.path, "bin/tool"),
    droppedPath: [join(here.path, "work/bin")],
  });
});

test("a command that is not found stays as it is written, and a PATH that is not set is not added", async () => {
  await using here = await scene(true);
  const missing = await here.plan({ command: "missing" });
  expect([missing.target.command, missing.file]).toEqual(["missing", undefined]);
  await using bare = await scene(true, { PATH: "" });
  expect((await bare.plan({ command: "sh" })).target.command).toBe("sh");
});

test("nothing of an untrusted workspace is run, also through a link, and nothing starts in it", async () => {
  await using here = await scene(false);
  const refused = (what: string) => ({
    code: "untrusted_folder",
    message: `"s" ${what}, which is in a folder that is not trusted`,
    serverName: "s",
    next: "fairlead trust add",
  });
  const inside = join(here.path, "work/bin/tool");
  await symlink(inside, join(here.path, "bin/link"));
  await expect(here.plan({ command: inside })).rejects.toMatchObject(refused(`would run ${inside}`));
  await expect(here.plan({ command: "link" })).rejects.toMatchObject(
    refused(`would run ${join(here.path, "bin/link")}`),
  );
  const cwd = join(here.path, "work");
  await expect(here.plan({ cwd })).rejects.toMatchObject(refused(`would start in ${cwd}`));
});
