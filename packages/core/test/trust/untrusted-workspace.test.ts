import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { leafKeys } from "../../src/settings/schema/schema.ts";
import type { Configuration } from "../../src/trust/configuration.ts";
import { effectOf, type Machine, machine, workspaceFile } from "../support/machine.ts";
import { type Sample, samples, settingsWith, settingsWithout } from "../support/workspace-samples.ts";

/** The user's own settings: something for every planted value to change. */
const userSettings = {
  mcpServers: {
    mine: { command: "node", args: ["$TOKEN"], env: { A: "${PORT:-1}" } },
    remote: { url: "https://example.com/mcp", headers: { authorization: "Bearer $TOKEN" } },
  },
  mcp: { allowed: ["mine", "remote", "other"], excluded: ["other"] },
  fairlead: { permissions: { servers: { mine: ["read", "planted"] } }, toolBudget: { tokens: 1000, tools: 100 } },
};

const keys = leafKeys();
const pathOf = (path: readonly string[]): string => path.join(".");
const sampleOf = (path: readonly string[]): Sample => samples.get(pathOf(path)) ?? { value: "no sample" };
const statusOf = ({ servers }: Configuration) =>
  servers.map(({ server, admission }) => [server.name, server.scope, admission.status]);

let here: Machine;
/** The configuration without a workspace file. */
let before: Configuration;

beforeAll(async () => {
  here = await machine({ "home/.gemini/settings.json": userSettings });
  before = await here.load();
});
afterAll(() => here[Symbol.asyncDispose]());

/** Loads the configuration with one workspace file after another. */
async function loadWith(
  contents: readonly (object | string)[],
  options: { trustWorkspace?: boolean } = {},
): Promise<Configuration[]> {
  const loaded: Configuration[] = [];
  for (const content of contents) {
    await here.write(workspaceFile, content);
    loaded.push(await here.load(options));
  }
  return loaded;
}

test("every key of the schema has a sample, and every sample a key", () => {
  expect([...samples.keys()].sort()).toEqual(keys.map(({ path }) => pathOf(path)).sort());
});

describe("in an untrusted folder a key of the workspace's settings does nothing", () => {
  test.each(keys.map(({ path }) => [pathOf(path), path] as const))("%s", async (_, path) => {
    const sample = sampleOf(path);
    const after = await loadWith([settingsWith(path, sample, "mine"), settingsWith(path, sample, "planted")]);
    for (const configuration of after) {
      expect(effectOf(configuration)).toEqual(effectOf(before));
      for (const { server, admission } of configuration.servers)
        if (server.scope === "workspace")
          expect([server.name, admission]).toEqual([
            server.name,
            expect.objectContaining({ status: path.at(-1) === "disabled" ? "disabled" : "blocked" }),
          ]);
    }
  });
});

describe("the samples are alive: in a trusted folder each does what the schema says", () => {
  test.each(keys.map(({ path, key }) => [pathOf(path), key.workspace, path] as const))(
    "%s: %s",
    async (_, rule, path) => {
      const sample = sampleOf(path);
      const contents = [settingsWithout(path, sample, "mine"), settingsWith(path, sample, "mine")];
      const [without, with_] = (await loadWith(contents, { trustWorkspace: true })).map(({ settings }) => ({
        servers: settings.servers.map(({ origin: _origin, problems: _problems, definition, ...server }) => {
          const { origin: _, ...defined } = definition ?? { origin: undefined };
          return { ...server, defined };
        }),
        lists: [settings.allowed?.names, settings.excluded.names],
        host: settings.host,
      }));
      const counts = !rule.startsWith("never: ") && rule !== "no effect anywhere";
      if (counts) expect(with_).not.toEqual(without);
      else
        expect({ ...with_, servers: withoutFingerprints(with_?.servers) }).toEqual({
          ...without,
          servers: withoutFingerprints(without?.servers),
        });
    },
  );

  /** An ignored key is still part of the entry that was approved. */
  function withoutFingerprints(servers: readonly { defined: object }[] = []): object[] {
    return servers.map(({ defined, ...server }) => ({ ...server, defined: { ...defined, fingerprint: undefined } }));
  }
});

test("all keys together do nothing either, and the user's servers stay as they were", async () => {
  const everything = keys.reduce<object>(
    (all, { path }) => deepMerge(all, settingsWith(path, sampleOf(path), "mine")),
    {},
  );
  const [after] = await loadWith([everything]);
  expect(after && effectOf(after)).toEqual(effectOf(before));
  expect(statusOf(before)).toEqual([
    ["mine", "user", "disconnected"],
    ["remote", "user", "disconnected"],
  ]);
});

test.each([
  "{",
  "[]",
  "null",
  '{"mcpServers": []}',
  '{"mcpServers": {"mine": 1}}',
  "\u0000",
  '{"__proto__": {"trusted": true}}',
])("a workspace file that makes no sense does nothing: %j", async (text) => {
  const [after] = await loadWith([text]);
  expect(after && effectOf(after)).toEqual(effectOf(before));
});

test.each([".env", ".gemini/.env"])("the %s file of an untrusted workspace feeds no variable", async (name) => {
  await using other = await machine({ "home/.gemini/settings.json": userSettings });
  const without = await other.load();
  await other.write(`work/${name}`, "TOKEN=planted\nPORT=7\nPATH=planted\n");
  expect(await other.load()).toEqual(without);
  expect(JSON.stringify((await other.load({ trustWorkspace: true })).servers)).toContain("workspace-env-file");
});

function deepMerge(one: object, other: object): object {
  const merged = new Map<string, unknown>(Object.entries(one));
  for (const [key, value] of Object.entries(other)) {
    const there = merged.get(key);
    const isPlain = (each: unknown): each is object =>
      typeof each === "object" && each !== null && !Array.isArray(each);
    merged.set(key, isPlain(there) && isPlain(value) ? deepMerge(there, value) : value);
  }
  return Object.fromEntries(merged);
}
