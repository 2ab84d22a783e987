import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { leafKeys } from "../../src/settings/schema/schema.ts";
import { revoke } from "../../src/trust/approvals.ts";
import { setFolderTrust } from "../../src/trust/trusted-folders.ts";
import { admissionOf, approveAll, rulesFile, trustedMachine, workspaceFile } from "../support/machine.ts";
import { samples, settingsWith, settingsWithout } from "../support/workspace-samples.ts";

const ours = { mcpServers: { ours: { command: "node", args: ["server.js"] } } };

describe("approval", () => {
  test("a server of a trusted workspace waits for it, has it, and loses it when it is revoked", async () => {
    await using here = await trustedMachine(ours);
    const awaiting = { status: "blocked", reason: "awaiting_approval", next: "fairlead trust add" };
    const place = `${join(here.path, workspaceFile)}:3`;
    expect(admissionOf(await here.load(), "ours")).toEqual({
      ...awaiting,
      message: `"ours" (${place}) has not been approved yet`,
    });
    await approveAll(here);
    expect(admissionOf(await here.load(), "ours")).toEqual({ status: "admitted" });
    await revoke(here.state, here.root);
    expect(admissionOf(await here.load(), "ours")).toMatchObject(awaiting);
  });

  test("it counts for one workspace only", async () => {
    await using here = await trustedMachine(ours);
    await approveAll(here);
    await here.write("elsewhere/.gemini/settings.json", ours);
    await setFolderTrust(join(here.path, rulesFile), join(here.path, "elsewhere"), "TRUST_FOLDER");
    expect(admissionOf(await here.load({ root: join(here.path, "elsewhere") }), "ours")).toMatchObject({
      reason: "awaiting_approval",
    });
  });

  test("it does not outlive the folder's trust", async () => {
    await using here = await trustedMachine(ours);
    await approveAll(here);
    await setFolderTrust(join(here.path, rulesFile), here.root, "DO_NOT_TRUST");
    expect(admissionOf(await here.load(), "ours")).toMatchObject({ reason: "untrusted_folder" });
  });

  const entryKeys = leafKeys().filter(({ path }) => path[0] === "mcpServers");
  test.each(entryKeys.map(({ path }) => [path.slice(2).join("."), path] as const))(
    "is lost when %s changes, unless it is the description",
    async (key, path) => {
      const sample = samples.get(path.join(".")) ?? { value: "no sample" };
      // Without what stands beside it, an entry is no server: then the key is taken away instead of added.
      const [approved, changed] = [settingsWithout(path, sample, "ours"), settingsWith(path, sample, "ours")];
      const [before, after] = sample.beside === undefined ? [changed, ours] : [approved, changed];
      await using here = await trustedMachine(before);
      await approveAll(here);
      expect(admissionOf(await here.load(), "ours")).toEqual({ status: "admitted" });
      await here.write(workspaceFile, after);
      const message = `"ours" (${join(here.path, workspaceFile)}:3) has changed since you approved it`;
      const isBox = ["sandboxEnabled", "sandbox.filesystem.allowWrite", "sandbox.network.allowedDomains"].includes(key);
      const said = isBox
        ? expect.stringMatching(/: it was (?:not )?sandboxed.*; it is now (?:not )?sandboxed/)
        : message;
      const lost = { status: "blocked", reason: "awaiting_approval", message: said, next: "fairlead trust add" };
      const changedTo = admissionOf(await here.load(), "ours");
      if (key === "disabled") expect(changedTo).toMatchObject({ status: "disabled" });
      else expect(changedTo).toEqual(key === "description" ? { status: "admitted" } : lost);
      await here.write(workspaceFile, before);
      expect(admissionOf(await here.load(), "ours")).toEqual({ status: "admitted" });
    },
  );

  test("of one server says nothing about another", async () => {
    await using here = await trustedMachine({ mcpServers: { one: { command: "node" }, two: { command: "node" } } });
    await approveAll(here, ["one"]);
    const configuration = await here.load();
    expect([admissionOf(configuration, "one"), admissionOf(configuration, "two")]).toMatchObject([
      { status: "admitted" },
      { reason: "awaiting_approval" },
    ]);
  });

  test("of a name is not taken over by a server that swaps its entry for another's", async () => {
    await using here = await trustedMachine({ mcpServers: { one: { command: "node" }, two: { command: "sh" } } });
    await approveAll(here, ["one"]);
    await here.write(workspaceFile, { mcpServers: { one: { command: "sh" }, two: { command: "node" } } });
    const configuration = await here.load();
    expect([admissionOf(configuration, "one"), admissionOf(configuration, "two")]).toMatchObject([
      { reason: "awaiting_approval" },
      { reason: "awaiting_approval" },
    ]);
  });
});
