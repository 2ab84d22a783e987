import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { type Environment, locate } from "../../../src/settings/read/paths.ts";
import { createWorld } from "../../support/load-settings.ts";

function environmentOf(folder: string, more: Partial<Environment> = {}): Environment {
  return { env: {}, home: join(folder, "home"), cwd: join(folder, "home/project/src"), platform: "linux", ...more };
}

describe("the workspace root", () => {
  const rows = [
    {
      what: "the nearest parent with .gemini",
      holds: ["home/project/.gemini", "home/project/src/.git"],
      root: "home/project",
      from: "gemini-folder",
    },
    {
      what: "the current folder, if it has one itself",
      holds: ["home/project/.gemini", "home/project/src/.gemini"],
      root: "home/project/src",
      from: "gemini-folder",
    },
    { what: "the git root without any .gemini", holds: ["home/project/.git"], root: "home/project", from: "git" },
    { what: "the current folder without either", holds: [], root: "home/project/src", from: "cwd" },
    {
      what: "not the home folder, whose .gemini is the user's",
      holds: ["home/.gemini"],
      root: "home/project/src",
      from: "cwd",
    },
    { what: "a .gemini above the home folder", holds: ["home/.gemini", ".gemini"], root: ".", from: "gemini-folder" },
  ];
  test.each(rows)("is $what", async ({ holds, root, from }) => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, "home/project/src"), { recursive: true });
    for (const name of holds) await mkdir(join(folder.path, name), { recursive: true });
    const found = await locate({ environment: environmentOf(folder.path) });
    expect({ root: found.root, from: found.rootFrom }).toEqual({ root: join(folder.path, root), from });
  });

  test("may be a git worktree, where .git is a file; a file .gemini does not count", async () => {
    await using folder = await temporaryFolder();
    await folder.write("home/project/.git", "gitdir: elsewhere");
    await folder.write("home/project/src/.gemini", "");
    const { root } = await locate({ environment: environmentOf(folder.path) });
    expect(root).toBe(join(folder.path, "home/project"));
  });

  test("given as an option it is taken as it is, relative to the current folder, and is a real path", async () => {
    await using folder = await temporaryFolder();
    await folder.write("home/project/src/.gemini/x", "");
    await mkdir(join(folder.path, "real"));
    await symlink(join(folder.path, "real"), join(folder.path, "link"));
    const { root, rootFrom } = await locate({ environment: environmentOf(folder.path), root: "../../../link" });
    expect({ root, rootFrom }).toEqual({ root: join(folder.path, "real"), rootFrom: "option" });
  });

  test("that is no folder is a mistake of the person", async () => {
    await using folder = await temporaryFolder();
    await folder.write("home/project/src/x", "");
    const environment = environmentOf(folder.path);
    await expect(locate({ environment, root: "" })).rejects.toMatchObject({ code: "usage" });
    await expect(locate({ environment, root: "x" })).rejects.toMatchObject({ code: "usage" });
    await expect(locate({ environment, root: "nowhere" })).rejects.toMatchObject({ code: "usage" });
    await expect(locate({ environment: { ...environment, cwd: join(folder.path, "gone") } })).rejects.toMatchObject({
      code: "usage",
    });
  });
});

describe("files", () => {
  test("are found in all scopes", async () => {
    await using world = await createWorld();
    expect(await world.locate()).toEqual({
      root: world.root,
      rootFrom: "gemini-folder",
      files: {
        "system-defaults": world.defaultsFile,
        user: world.userFile,
        workspace: world.workspaceFile,
        system: world.systemFile,
      },
      trustedFolders: join(world.home, ".gemini/trustedFolders.json"),
      policies: {
        administrator: "/etc/fairlead/policies",
        user: join(world.home, ".gemini/policies"),
        workspace: join(world.root, ".gemini/policies"),
      },
      state: join(world.home, ".fairlead"),
      envFiles: {
        user: [join(world.home, ".gemini/.env"), join(world.home, ".env")],
        workspace: [join(world.root, ".gemini/.env"), join(world.root, ".env")],
      },
    });
  });

  test.each([
    ["linux", "/etc/gemini-cli/settings.json", "/etc/gemini-cli/system-defaults.json", "/etc/fairlead/policies"],
    [
      "darwin",
      "/Library/Application Support/GeminiCli/settings.json",
      "/Library/Application Support/GeminiCli/system-defaults.json",
      "/Library/Application Support/Fairlead/policies",
    ],
    [
      "win32",
      "C:\\ProgramData\\gemini-cli\\settings.json",
      "C:\\ProgramData\\gemini-cli\\system-defaults.json",
      "C:\\ProgramData\\fairlead\\policies",
    ],
  ] as const)("of the system lie where %s keeps them", async (platform, system, defaults, policyFolder) => {
    await using world = await createWorld();
    const { files, policies } = await locate({ environment: { ...world.environment(), env: {}, platform } });
    expect([files.system, files["system-defaults"], policies.administrator]).toEqual([system, defaults, policyFolder]);
  });

  test("can be moved by the environment, with absolute paths only", async () => {
    await using world = await createWorld();
    const moved = await locate({
      environment: world.environment({
        GEMINI_CLI_SYSTEM_SETTINGS_PATH: "/a/s.json",
        GEMINI_CLI_SYSTEM_DEFAULTS_PATH: "/b/d.json",
        GEMINI_CLI_TRUSTED_FOLDERS_PATH: "/c/t.json",
        FAIRLEAD_HOME: "/d",
        FAIRLEAD_SYSTEM_POLICIES_PATH: "/e",
      }),
    });
    expect([
      moved.files.system,
      moved.files["system-defaults"],
      moved.trustedFolders,
      moved.state,
      moved.policies.administrator,
    ]).toEqual(["/a/s.json", "/b/d.json", "/c/t.json", "/d", "/e"]);
    for (const name of [
      "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
      "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
      "GEMINI_CLI_TRUSTED_FOLDERS_PATH",
      "FAIRLEAD_HOME",
      "FAIRLEAD_SYSTEM_POLICIES_PATH",
    ]) {
      const environment = world.environment({ [name]: ".gemini/planted.json" });
      await expect(locate({ environment })).rejects.toMatchObject({
        code: "settings_invalid",
        message: expect.stringContaining(name),
      });
    }
  });

  test.each(["", ".", "home"])("need a home folder that is absolute, not %j", async (home) => {
    await using world = await createWorld();
    await expect(locate({ environment: { ...world.environment(), home } })).rejects.toMatchObject({
      code: "settings_invalid",
    });
  });

  test("of the user can be replaced by one that exists", async () => {
    await using world = await createWorld();
    const file = await world.folder.write("workspace/other.json", "{}");
    expect((await world.locate({ settingsFile: "other.json" })).files.user).toBe(file);
    for (const settingsFile of ["missing.json", ""])
      await expect(world.locate({ settingsFile })).rejects.toMatchObject({ code: "usage" });
  });

  test("of the workspace are left out on request, and where the root is the home folder", async () => {
    await using world = await createWorld();
    for (const options of [{ workspace: false }, { root: world.home }]) {
      const { files, envFiles } = await world.locate(options);
      expect([files.workspace, envFiles.workspace]).toEqual([undefined, []]);
    }
  });
});

describe("our own folder", () => {
  test("is never inside the workspace, not even by a detour", async () => {
    await using world = await createWorld();
    await symlink(world.root, join(world.folder.path, "detour"));
    for (const state of [world.root, join(world.root, "state"), join(world.folder.path, "detour/new/state")]) {
      const environment = world.environment({ FAIRLEAD_HOME: state });
      await expect(locate({ environment })).rejects.toMatchObject({ code: "settings_invalid" });
    }
    const beside = world.environment({ FAIRLEAD_HOME: `${world.root}-state` });
    expect((await locate({ environment: beside })).state).toBe(`${world.root}-state`);
  });

  test("stays usable for who works in the home folder", async () => {
    await using world = await createWorld();
    expect((await world.locate({ root: world.home })).state).toBe(join(world.home, ".fairlead"));
  });
});
