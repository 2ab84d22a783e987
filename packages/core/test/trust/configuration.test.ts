import { mkdir, readdir, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ConfigurationOptions } from "../../src/trust/configuration.ts";
import { admissionOf, machine, rulesFile, trustedMachine, userFile, workspaceFile } from "../support/machine.ts";

const ours = { mcpServers: { ours: { command: "node", args: ["server.js"] } } };

describe("who decides about a workspace", () => {
  const blocked = (reason: string) => ["blocked", reason];
  const admitted = ["admitted", undefined];
  test.each<
    [
      string,
      { files?: Record<string, object>; options?: Partial<ConfigurationOptions>; env?: Record<string, string> },
      string,
      unknown[],
    ]
  >([
    ["nobody", {}, "default", blocked("untrusted_folder")],
    ["the flag, which approves too", { options: { trustWorkspace: true } }, "flag", admitted],
    ["our variable, which approves too", { env: { FAIRLEAD_TRUST_WORKSPACE: "1" } }, "environment", admitted],
    [
      "Gemini's variable, which does not approve",
      { env: { GEMINI_CLI_TRUST_WORKSPACE: "true" } },
      "environment",
      blocked("awaiting_approval"),
    ],
    [
      "a user's switch",
      { files: { [userFile]: { security: { folderTrust: { enabled: false } } } } },
      "disabled",
      blocked("awaiting_approval"),
    ],
    [
      "an administrator's switch",
      { files: { "etc/settings.json": { security: { folderTrust: { enabled: false } } } } },
      "disabled",
      blocked("awaiting_approval"),
    ],
    [
      "an administrator's switch over the user's",
      {
        files: {
          "etc/settings.json": { security: { folderTrust: { enabled: true } } },
          [userFile]: { security: { folderTrust: { enabled: false } } },
        },
      },
      "default",
      blocked("untrusted_folder"),
    ],
    ["the embedding program's yes", { options: { embedderTrust: true } }, "embedder", blocked("awaiting_approval")],
    ["the embedding program's no", { options: { embedderTrust: false } }, "embedder", blocked("untrusted_folder")],
  ])("%s", async (_, { files = {}, options = {}, env = {} }, source, expected) => {
    await using here = await machine({ [workspaceFile]: ours, ...files });
    const configuration = await here.load(options, env);
    const admission = admissionOf(configuration, "ours");
    expect([
      configuration.trust.source,
      admission?.status,
      admission && "reason" in admission ? admission.reason : undefined,
    ]).toEqual([source, ...expected]);
    expect(configuration.problems).toEqual([]);
  });

  test("a rule in the person's file", async () => {
    await using here = await trustedMachine(ours);
    expect((await here.load()).trust).toEqual({
      trusted: true,
      source: "file",
      approvesEntries: false,
      detail: `TRUST_FOLDER for ${here.root} (${join(here.path, rulesFile)}:2)`,
    });
  });

  test("without the workspace nothing of it is listed", async () => {
    await using here = await machine({ [workspaceFile]: ours });
    expect((await here.load({ workspace: false })).servers).toEqual([]);
  });
});

test("a broken file of rules is reported, trusts nothing and stops nothing", async () => {
  await using here = await machine({
    [workspaceFile]: ours,
    [rulesFile]: '{ "/": "TRUST_FOLDER"',
    [userFile]: { mcpServers: { mine: { command: "node" } } },
  });
  const configuration = await here.load();
  expect(configuration.problems).toMatchObject([
    { severity: "error", origin: { file: join(here.path, rulesFile), line: 1 } },
  ]);
  expect([admissionOf(configuration, "mine"), admissionOf(configuration, "ours")]).toMatchObject([
    { status: "admitted" },
    { reason: "untrusted_folder" },
  ]);
  expect(await here.read(rulesFile)).toBe('{ "/": "TRUST_FOLDER"');
});

test("approvals are not looked at where they decide nothing", async () => {
  await using here = await machine({ [workspaceFile]: ours, "home/.fairlead/approvals.json": "corrupt" });
  await here.load();
  await here.load({ trustWorkspace: true });
  expect(await readdir(here.state)).toEqual(["approvals.json"]);
});

test("approvals that cannot be read approve nothing and stop nothing", async () => {
  await using here = await trustedMachine(ours);
  await here.write(userFile, { mcpServers: { mine: { command: "node" } } });
  await mkdir(here.state);
  const file = join(here.state, "approvals.json");
  await symlink(file, file);
  const configuration = await here.load();
  expect(configuration.problems).toEqual([
    {
      severity: "error",
      code: "settings_invalid",
      message: `no server of this workspace counts as approved: ${file} cannot be read: its symbolic links go in a circle`,
    },
  ]);
  expect([admissionOf(configuration, "mine"), admissionOf(configuration, "ours")]).toMatchObject([
    { status: "admitted" },
    { reason: "awaiting_approval" },
  ]);
});

test("looking writes nothing", async () => {
  await using here = await machine({ [workspaceFile]: ours });
  await here.load();
  await here.load({ embedderTrust: true });
  await expect(stat(here.state)).rejects.toMatchObject({ code: "ENOENT" });
  expect(await readdir(join(here.path, "home"))).toEqual([]);
});
