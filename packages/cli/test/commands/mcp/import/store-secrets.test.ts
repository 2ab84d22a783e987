import type { SecretStore } from "@fairlead/core/files/secrets/secret-store";
import { expect, test } from "vitest";
import { literalSecretsOf, storeSecrets } from "../../../../src/commands/mcp/import/import-steps.ts";
import type { PlannedServer } from "../../../../src/import/plan.ts";

function server(target: string, env: Readonly<Record<string, string>>): PlannedServer {
  const source = { program: "cursor", file: "/c/mcp.json" } as const;
  const conversion = { entry: { command: "x", env }, enabled: true, remarks: [] };
  return { name: target, target, source, action: { kind: "add" }, conversion };
}

function storeWith(values: Map<string, string>): SecretStore {
  return {
    backend: "file",
    get: async (name) => values.get(name),
    set: async (name, value) => void values.set(name, value),
    remove: async (name) => values.delete(name),
    list: async () => [...values.keys()],
  };
}

test("each secret gets a name of its own: the same value is shared, and no other value is overwritten", async () => {
  const values = new Map([
    ["API_KEY", "old"],
    ["B_API_KEY", "other"],
    ["TOKEN", "same"],
  ]);
  const servers = [
    server("a", { API_KEY: "new", TOKEN: "same", PLAIN: "x" }),
    server("b", { API_KEY: "newer", TOKEN: "different" }),
    server("c", { API_KEY: "old" }),
    server("-d", { PASSWORD: "p" }),
  ];
  const result = await storeSecrets(servers, storeWith(values));
  expect(result.stored).toEqual([
    { server: "a", key: "env.API_KEY", name: "A_API_KEY", isNew: true },
    { server: "a", key: "env.TOKEN", name: "TOKEN", isNew: false },
    { server: "b", key: "env.API_KEY", name: "B_API_KEY_2", isNew: true },
    { server: "b", key: "env.TOKEN", name: "B_TOKEN", isNew: true },
    { server: "c", key: "env.API_KEY", name: "API_KEY", isNew: false },
    { server: "-d", key: "env.PASSWORD", name: "PASSWORD", isNew: true },
  ]);
  expect(result.servers.map(({ conversion }) => conversion.entry["env"])).toEqual([
    { API_KEY: "${secret:A_API_KEY}", TOKEN: "${secret:TOKEN}", PLAIN: "x" },
    { API_KEY: "${secret:B_API_KEY_2}", TOKEN: "${secret:B_TOKEN}" },
    { API_KEY: "${secret:API_KEY}" },
    { PASSWORD: "${secret:PASSWORD}" },
  ]);
  expect(Object.fromEntries(values)).toEqual({
    API_KEY: "old",
    B_API_KEY: "other",
    TOKEN: "same",
    A_API_KEY: "new",
    B_API_KEY_2: "newer",
    B_TOKEN: "different",
    PASSWORD: "p",
  });
  expect(literalSecretsOf(server("a", { API_KEY: "k", TOKEN: "t" }))).toEqual([
    { key: "env.API_KEY", value: "k", name: "API_KEY" },
    { key: "env.TOKEN", value: "t", name: "TOKEN" },
  ]);
});

test("a name that is too long keeps its last 128 characters", async () => {
  const values = new Map<string, string>();
  const long = `${"X".repeat(130)}_TOKEN`;
  const { stored } = await storeSecrets([server("a", { [long]: "t" })], storeWith(values));
  expect(stored.map(({ name }) => name)).toEqual([`${"X".repeat(122)}_TOKEN`]);
});

test("two servers of one import that use the same name for different values get two names", async () => {
  const values = new Map<string, string>();
  const servers = [server("a", { TOKEN: "1" }), server("b", { TOKEN: "2" }), server("c", { TOKEN: "1" })];
  const { stored } = await storeSecrets(servers, storeWith(values));
  expect(stored.map(({ name, isNew }) => [name, isNew])).toEqual([
    ["TOKEN", true],
    ["B_TOKEN", true],
    ["TOKEN", false],
  ]);
  expect(Object.fromEntries(values)).toEqual({ TOKEN: "1", B_TOKEN: "2" });
});
