import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { appendFile, mkdir, rename, rm, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createHost } from "../../../src/index.ts";
import { createPolicyFiles } from "../../../src/policy/rules/policy-files.ts";
import type { Locations } from "../../../src/settings/read/paths.ts";

function locationsIn({ path }: TemporaryFolder): Locations {
  const at = (name: string): string => join(path, name);
  return {
    root: path,
    rootFrom: "option",
    files: { workspace: at(".gemini/settings.json") } as Locations["files"],
    trustedFolders: at("trusted.json"),
    policies: { administrator: at("admin"), user: at("user"), workspace: at("workspace") },
    state: at("state"),
    envFiles: { user: [], workspace: [] },
  };
}

async function put(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

test("every change of a policy file, the approvals or the lock file gives another version, once", async () => {
  await using folder = await temporaryFolder();
  const locations = locationsIn(folder);
  const files = createPolicyFiles(() => 0);
  const at = (name: string): string => join(folder.path, name);
  let last = files.version(locations);
  for (const [name, change] of Object.entries({
    "first file": () => put(at("user/a.toml"), "a"),
    "second file": () => put(at("user/b.TOML"), "b"),
    "other content": () => appendFile(at("user/a.toml"), "more"),
    "same content, another file": () =>
      put(at("user/c.toml.tmp"), "b").then(() => rename(at("user/c.toml.tmp"), at("user/b.TOML"))),
    "same content, another modification time": () => utimes(at("user/b.TOML"), 1, 1),
    "renamed file": () => rename(at("user/a.toml"), at("user/z.toml")),
    "removed file": () => rm(at("user/z.toml")),
    "removed folder": () => rm(at("user"), { recursive: true }),
    "administrator's file": () => put(at("admin/a.toml"), "a"),
    "workspace's file": () => put(at("workspace/a.toml"), "a"),
    "lock file": () => put(at(".gemini/mcp.lock"), "{}"),
    approvals: () => put(at("state/approvals.json"), "{}"),
  })) {
    await change();
    const next = files.version(locations);
    expect(next, name).toBeGreaterThan(last);
    await new Promise(setImmediate);
    expect(files.version(locations), `${name}, looked at again`).toBe(next);
    last = next;
  }
});

test("the files are looked at once in code without an await, and again after it", async () => {
  await using folder = await temporaryFolder();
  const locations = locationsIn(folder);
  const files = createPolicyFiles(() => 0);
  const before = files.version(locations);
  mkdirSync(join(folder.path, "user"));
  writeFileSync(join(folder.path, "user/a.toml"), "a");
  expect(files.version(locations)).toBe(before);
  await Promise.resolve();
  expect(files.version(locations)).toBeGreaterThan(before);
});

test("a rule that a program writes between two calls applies to the second, also if nothing else runs between", async () => {
  await using folder = await temporaryFolder();
  await folder.write("home/.gemini/policies/a.toml", "");
  const home = join(folder.path, "home");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  const environment = { env, home, cwd: home, platform: process.platform };
  await using host = await createHost({ environment, settings: { mcpServers: {} }, workspace: false });
  const call = () => host.call("demo", "greet", { name: "Ada" });
  // The first calls load modules. From then on, a call to the in-process server runs in promise callbacks only.
  for (let count = 0; count < 5; count += 1) await call();
  const rule = '[[rule]]\nmcpName = "demo"\ntoolName = "greet"\ndecision = "deny"\npriority = 5\n';
  writeFileSync(join(home, ".gemini/policies/b.toml"), rule);
  await expect(call()).rejects.toMatchObject({ code: "denied" });
  rmSync(join(home, ".gemini/policies/b.toml"));
  await call();
});

test("other locations are other files", async () => {
  await using folder = await temporaryFolder();
  const files = createPolicyFiles(() => 0);
  const before = files.version(locationsIn(folder));
  expect(files.version(locationsIn(folder))).toBeGreaterThan(before);
});
