import type { Lookup } from "@fairlead/core/settings/read/variables";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { collect } from "../../src/import/plan.ts";
import type { ImportSource, Remark } from "../../src/import/program.ts";

interface Setting {
  readonly envFile: string;
  readonly trusted: boolean;
  readonly ofProject: boolean;
}

/** A VS Code server with an `env` of its own and an `envFile` of two more names, one of which has a value here. */
async function convert({
  envFile,
  trusted,
  ofProject,
}: Setting): Promise<{ env: unknown; remarks: readonly Remark[]; path: string }> {
  await using folder = await temporaryFolder();
  const root = folder.path;
  await folder.write(".env", 'export KNOWN=canary-1\nMISSING="canary-2\nFAKE=canary-3"\nOWN=canary-4\n');
  const file = await folder.write("mcp.json", { servers: { a: { command: "x", env: { OWN: "mine" }, envFile } } });
  const source: ImportSource = { program: "vscode", file, ...(ofProject ? { folder: root } : {}) };
  const environment = { env: {}, home: "/home/me", cwd: root, platform: "linux" } as const;
  const lookup: Lookup = (name) => (name === "KNOWN" ? { value: "v", from: "environment" } : undefined);
  const { candidates } = await collect([source], { environment, root, trusted, lookup, target: "user" });
  expect(JSON.stringify(candidates)).not.toContain("canary");
  return {
    env: candidates[0]?.conversion.entry["env"],
    remarks: candidates[0]?.conversion.remarks ?? [],
    path: `${root}/.env`,
  };
}

test.each([
  { envFile: "${workspaceFolder}/.env", trusted: true, ofProject: true },
  { envFile: ".env", trusted: true, ofProject: false },
])("names become references where they have a value, and are named where they have none: %j", async (setting) => {
  const { env, remarks, path } = await convert(setting);
  expect(env).toEqual({ KNOWN: "${KNOWN}", OWN: "mine" });
  expect(remarks).toEqual([
    { kind: "converted", key: "env.KNOWN", message: `defined in ${path}; the entry refers to it as \${KNOWN}` },
    {
      kind: "dropped",
      key: "env.MISSING",
      message: `Fairlead does not copy the value from ${path}: store the value, then add "MISSING": "\${secret:MISSING}" to env`,
      next: "fairlead secret set MISSING",
    },
  ]);
});

test.each([
  { envFile: "${workspaceFolder}/.env", trusted: false, ofProject: true },
  { envFile: "${workspaceFolder}/.env", trusted: false, ofProject: false },
  { envFile: "/etc/passwd", trusted: false, ofProject: true },
])("nothing of an untrusted folder is read: %j", async (setting) => {
  const { env, remarks } = await convert(setting);
  expect(env).toEqual({ OWN: "mine" });
  expect(remarks).toEqual([
    {
      kind: "dropped",
      key: "envFile",
      message: "is not read: it belongs to a folder that is not trusted",
      next: "fairlead trust add",
    },
  ]);
});

test("a file that is not there is named", async () => {
  const { remarks } = await convert({ envFile: "/nowhere/.env", trusted: false, ofProject: false });
  expect(remarks).toEqual([{ kind: "dropped", key: "envFile", message: "cannot be read: /nowhere/.env" }]);
});
