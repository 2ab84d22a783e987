import { rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { admissionOf, machine, trustedMachine, workspaceFile } from "../support/machine.ts";

const ours = { mcpServers: { ours: { command: "node", args: ["server.js"] } } };

describe("no workspace file can give itself trust", () => {
  const planted = (root: string): [string, Record<string, string | object>][] => [
    ["a switch in its settings", { [workspaceFile]: { ...ours, security: { folderTrust: { enabled: false } } } }],
    [
      "rules of its own",
      {
        "work/.gemini/trustedFolders.json": { [root]: "TRUST_FOLDER" },
        "work/trustedFolders.json": { [root]: "TRUST_FOLDER" },
      },
    ],
    [
      "system settings of its own",
      { "work/.gemini/system-defaults.json": { security: { folderTrust: { enabled: false } } } },
    ],
    [
      "state of its own",
      { "work/.fairlead/approvals.json": {}, "work/home/.gemini/trustedFolders.json": { [root]: "TRUST_FOLDER" } },
    ],
    ...["work/.env", "work/.gemini/.env"].flatMap((file) =>
      [
        "FAIRLEAD_TRUST_WORKSPACE=true",
        "GEMINI_CLI_TRUST_WORKSPACE=true",
        `GEMINI_CLI_TRUSTED_FOLDERS_PATH=${root}/trustedFolders.json`,
        `GEMINI_CLI_SYSTEM_SETTINGS_PATH=${root}/system.json`,
        `GEMINI_CLI_SYSTEM_DEFAULTS_PATH=${root}/system.json`,
        `FAIRLEAD_HOME=${root}/.fairlead`,
        `HOME=${root}/home`,
        `USERPROFILE=${root}/home`,
      ].map((line): [string, Record<string, string | object>] => [
        `${line.split("=")[0]} in ${file}`,
        {
          [file]: `${line}\n`,
          "work/trustedFolders.json": { [root]: "TRUST_FOLDER" },
          "work/system.json": { security: { folderTrust: { enabled: false } } },
          "work/home/.gemini/trustedFolders.json": { [root]: "TRUST_FOLDER" },
        },
      ]),
    ),
  ];

  test.each(planted("").map(([what], index) => [what, index] as const))("%s", async (_, index) => {
    await using here = await machine({ [workspaceFile]: ours });
    const before = await here.load();
    for (const [name, content] of Object.entries(planted(here.root)[index]?.[1] ?? {})) await here.write(name, content);
    const after = await here.load();
    expect([after.trust, after.locations, admissionOf(after, "ours")?.status]).toEqual([
      before.trust,
      before.locations,
      "blocked",
    ]);
    expect(after.trust.trusted).toBe(false);
  });

  test.each(planted("").map(([what], index) => [what, index] as const))(
    "nor approval, in a trusted folder: %s",
    async (_, index) => {
      await using here = await trustedMachine(ours);
      for (const [name, content] of Object.entries(planted(here.root)[index]?.[1] ?? {}))
        await here.write(name, content);
      const { trust, servers } = await here.load();
      expect([trust.source, trust.approvesEntries, servers.map(({ admission }) => admission.status)]).toEqual([
        "file",
        false,
        ["blocked"],
      ]);
    },
  );

  test("not even when the environment names a file of rules inside it", async () => {
    await using here = await machine({ [workspaceFile]: ours });
    const file = await here.write("work/rules.json", { [here.root]: "TRUST_FOLDER" });
    const { trust, problems } = await here.load({}, { GEMINI_CLI_TRUSTED_FOLDERS_PATH: file });
    expect(trust.trusted).toBe(false);
    expect(problems).toEqual([
      {
        severity: "error",
        code: "settings_invalid",
        message: `${file} is ignored: it lies in the workspace ${here.root}, and a workspace cannot trust itself`,
        next: "Set GEMINI_CLI_TRUSTED_FOLDERS_PATH to a file outside the workspace, or unset it.",
      },
    ]);
  });

  test("the user's own file of rules counts even if ~/.gemini is a link into the workspace", async () => {
    await using here = await machine({ [workspaceFile]: ours });
    await here.write("work/dotfiles/trustedFolders.json", { [here.root]: "TRUST_FOLDER" });
    await rm(join(here.path, "home/.gemini"), { recursive: true, force: true });
    await symlink(join(here.root, "dotfiles"), join(here.path, "home/.gemini"));
    const { trust, problems } = await here.load();
    expect(trust).toMatchObject({ trusted: true, source: "file" });
    expect(problems).toEqual([]);
  });

  test("a file of rules elsewhere, named by the environment, counts", async () => {
    await using here = await machine({ [workspaceFile]: ours });
    const file = await here.write("rules.json", { [here.root]: "TRUST_FOLDER" });
    expect((await here.load({}, { GEMINI_CLI_TRUSTED_FOLDERS_PATH: file })).trust).toMatchObject({
      trusted: true,
      source: "file",
    });
  });

  test("state inside the workspace is refused", async () => {
    await using here = await machine({ [workspaceFile]: ours });
    await expect(here.load({}, { FAIRLEAD_HOME: join(here.root, "state") })).rejects.toMatchObject({
      code: "settings_invalid",
    });
  });
});
