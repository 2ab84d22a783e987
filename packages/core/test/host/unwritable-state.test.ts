/** Without saved definitions Fairlead cannot tell a changed tool from a new one: it asks, and says why. */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createHost, type Host, ToolConfirmationOutcome } from "../../src/index.ts";

/** A host of another run, connected to a server of which every call is allowed. */
async function open(folder: TemporaryFolder, description: string): Promise<Host> {
  const file = await folder.write("list.json", [{ name: "pay", description, inputSchema: { type: "object" } }]);
  const s = { ...stdioServer("counted", join(folder.path, "notes"), file), trust: true };
  await folder.write("home/.gemini/settings.json", { mcpServers: { s } });
  await folder.write("home/.gemini/policies/mine.toml", '[[rule]]\nmcpName = "s"\ndecision = "allow"\npriority = 1\n');
  const home = join(folder.path, "home");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  const environment = { env, home, cwd: home, platform: process.platform };
  const host = await createHost({ environment, recover: false, trust: true });
  await host.start();
  return host;
}

const unsaved = {
  code: "denied",
  message: expect.stringMatching(
    /^s\.pay denied: .*may have changed.*the state folder .*fairlead\/known cannot be written: .*not a folder/,
  ),
  next: expect.stringContaining("FAIRLEAD_HOME"),
};

/** Files in place of folders: not even root can write below them. */
async function damage(folder: TemporaryFolder, ...names: readonly string[]): Promise<void> {
  for (const name of names) await folder.write(`home/.fairlead/${name}`, "not a folder");
}

test("a model's call that a rule allows, and a typed one, need confirmation", async () => {
  await using folder = await temporaryFolder();
  await damage(folder, "known", "catalogs");
  for (const description of ["Pays.", "Pays twice."]) {
    await using host = await open(folder, description);
    const [tool] = host.toolRegistry.getToolsByServer("s");
    await expect(host.callAsModel(tool?.name ?? "", {})).rejects.toMatchObject(unsaved);
    await expect(host.call("s", "pay")).rejects.toMatchObject(unsaved);
  }
});

test("a definition that nobody has accepted needs confirmation in the next run too, if only the accepted ones cannot be saved", async () => {
  await using folder = await temporaryFolder();
  await damage(folder, "known");
  for (const description of ["Pays.", "Pays.", "Pays twice."]) {
    await using host = await open(folder, description);
    await expect(host.call("s", "pay")).rejects.toMatchObject({
      code: "denied",
      message: expect.stringMatching(
        /^s\.pay denied: .*may have changed.*fairlead\/known cannot be written: .*not a folder/,
      ),
    });
  }
});

test("the confirmation says why, offers nothing that cannot be saved, and a yes holds for this host", async () => {
  await using folder = await temporaryFolder();
  await damage(folder, "known", "catalogs");
  await using host = await open(folder, "Pays.");
  const [tool] = host.toolRegistry.getToolsByServer("s");
  await expect(tool?.execute({})).rejects.toMatchObject({ code: "denied" });
  const details = await tool?.shouldConfirmExecute({});
  if (!details) throw new Error("not asked");
  expect(details.rule?.text).toMatch(/asks about it: the state folder .* cannot be written: /);
  expect(details.change).toBeUndefined();
  expect(details.outcomes).not.toContain(ToolConfirmationOutcome.ProceedAlwaysAndSave);
  await details.onConfirm(ToolConfirmationOutcome.ProceedAlwaysTool);
  await tool?.execute({});
  await host.call("s", "pay");
});

test("a definition that was saved earlier is not in doubt, and one that differs from it is changed", async () => {
  await using folder = await temporaryFolder();
  {
    await using host = await open(folder, "Pays.");
    await host.call("s", "pay");
  }
  await rm(join(folder.path, "home/.fairlead/known"), { recursive: true });
  await damage(folder, "known");
  {
    // The cached catalog still has it.
    await using host = await open(folder, "Pays.");
    await host.call("s", "pay");
  }
  await using host = await open(folder, "Pays twice.");
  await expect(host.call("s", "pay")).rejects.toMatchObject({ code: "changed" });
});

test("with a state folder that can be written again, nothing is asked", async () => {
  await using folder = await temporaryFolder();
  await damage(folder, "known", "catalogs");
  {
    await using host = await open(folder, "Pays.");
    await expect(host.call("s", "pay")).rejects.toMatchObject(unsaved);
  }
  await rm(join(folder.path, "home/.fairlead/known"));
  await using host = await open(folder, "Pays.");
  await host.call("s", "pay");
});
