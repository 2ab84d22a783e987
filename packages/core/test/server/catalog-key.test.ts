import { expect, test } from "vitest";
import { type CatalogIdentity, catalogKey } from "../../src/server/catalog-store.ts";

const key = Buffer.alloc(32, 7);
const program: CatalogIdentity = {
  fingerprint: "f",
  expanded: { kind: "stdio", command: "node", args: ["a"], env: new Map([["T", "1"]]), cwd: "/w" },
};
const page: CatalogIdentity = {
  fingerprint: "f",
  expanded: { kind: "http", url: "https://h/", headers: new Map([["A", "1"]]) },
};

test("the same server has the same key, in whatever order its variables stand", () => {
  const env = (...names: string[]): CatalogIdentity => ({
    fingerprint: "f",
    expanded: { kind: "stdio", command: "n", args: [], env: new Map(names.map((name) => [name, "1"])) },
  });
  expect(catalogKey(env("A", "B"), key)).toBe(catalogKey(env("B", "A"), key));
  expect(catalogKey(program, key)).toMatch(/^[0-9a-f]{40}$/);
});

test("whatever may change what the server shows changes the key", () => {
  const { expanded } = program;
  if (expanded.kind !== "stdio") throw new Error("not a program");
  const others: CatalogIdentity[] = [
    program,
    page,
    { ...program, fingerprint: "g" },
    { ...program, account: "ada" },
    { ...program, expanded: { ...expanded, command: "deno" } },
    { ...program, expanded: { ...expanded, args: ["b"] } },
    { ...program, expanded: { ...expanded, env: new Map([["T", "2"]]) } },
    { ...program, expanded: { ...expanded, cwd: "/v" } },
    { ...page, expanded: { kind: "http", url: "https://i/", headers: new Map([["A", "1"]]) } },
    { ...page, expanded: { kind: "http", url: "https://h/", headers: new Map([["A", "2"]]) } },
    { ...page, expanded: { kind: "sse", url: "https://h/", headers: new Map([["A", "1"]]) } },
  ];
  expect(new Set(others.map((identity) => catalogKey(identity, key))).size).toBe(others.length);
  expect(catalogKey(program, Buffer.alloc(32, 8))).not.toBe(catalogKey(program, key));
});
