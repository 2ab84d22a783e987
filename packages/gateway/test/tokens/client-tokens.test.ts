import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createClientTokens } from "../../src/tokens/client-tokens.ts";

test("a token names its client until it is revoked, also in another process", async () => {
  await using folder = await temporaryFolder();
  const state = join(folder.path, "state");
  const [here, there] = [createClientTokens(state, () => 7), createClientTokens(state)];
  expect(there.clientOf("nothing")).toBeUndefined();
  const [claude, codex] = [await here.create("claude-code"), await here.create("codex")];
  expect(claude).toMatch(/^[\w-]{43}$/);
  expect([there.clientOf(claude), there.clientOf(codex), there.clientOf(`${claude}x`), there.clientOf("")]).toEqual([
    "claude-code",
    "codex",
    undefined,
    undefined,
  ]);
  expect(await there.list()).toEqual([
    { client: "claude-code", createdAt: 7 },
    { client: "codex", createdAt: 7 },
  ]);
  const file = join(state, "client-tokens.json");
  expect((await stat(file)).mode & 0o077).toBe(0);
  expect(await readFile(file, "utf8")).not.toContain(claude);
  expect(await there.revoke("claude-code")).toBe(1);
  expect([here.clientOf(claude), here.clientOf(codex)]).toEqual([undefined, "codex"]);
});

test("a client has a bounded number of tokens, and a damaged file has none", async () => {
  await using folder = await temporaryFolder();
  const tokens = createClientTokens(folder.path);
  const made: string[] = [];
  for (let at = 0; at < 10; at += 1) made.push(await tokens.create("codex"));
  expect(made.map((token) => tokens.clientOf(token) === "codex")).toEqual([
    ...Array.from({ length: 2 }, () => false),
    ...Array.from({ length: 8 }, () => true),
  ]);
  await expect(tokens.create("")).rejects.toMatchObject({ code: "usage" });
  await writeFile(join(folder.path, "client-tokens.json"), "{ broken");
  expect(made.map((token) => tokens.clientOf(token))).toEqual(made.map(() => undefined));
});

test("a client's name has 1 to 100 characters", async () => {
  await using folder = await temporaryFolder();
  const tokens = createClientTokens(folder.path, () => 1);
  const longest = "c".repeat(100);
  expect(tokens.clientOf(await tokens.create(longest))).toBe(longest);
  await expect(tokens.create(`${longest}c`)).rejects.toMatchObject({
    code: "usage",
    message: "the client's name must have 1 to 100 characters",
  });
  expect(await tokens.list()).toEqual([{ client: longest, createdAt: 1 }]);
});

const digest = (at: number): string => at.toString(16).padStart(64, "0");

test("there are at most 256 tokens; a client that has eight replaces its oldest", async () => {
  await using folder = await temporaryFolder();
  const tokens = createClientTokens(folder.path, () => 9);
  const stored = Array.from({ length: 255 }, (_, at) => ({
    client: `c${Math.floor(at / 8)}`,
    digest: digest(at),
    createdAt: at,
  }));
  await folder.write("client-tokens.json", { v: 1, tokens: stored });
  await tokens.create("new");
  await expect(tokens.create("newer")).rejects.toMatchObject({
    code: "usage",
    message: "there are already 256 tokens, which is the maximum",
    next: "revoke tokens of clients that you no longer use: fairlead disconnect CLIENT",
  });
  await tokens.create("c0");
  const listed = await tokens.list();
  expect(listed).toHaveLength(256);
  expect(listed.slice(-10).map(({ client, createdAt }) => [client, createdAt])).toEqual([
    ["c31", 254],
    ["new", 9],
    ...[1, 2, 3, 4, 5, 6, 7, 9].map((createdAt) => ["c0", createdAt]),
  ]);
  expect([await tokens.revoke("c0"), await tokens.revoke("c0")]).toEqual([8, 0]);
});

test("damaged tokens in the file do not count", async () => {
  await using folder = await temporaryFolder();
  const good = { client: "a", digest: digest(1), createdAt: 1 };
  const damaged = [
    7,
    { ...good, client: 1 },
    { ...good, digest: 1 },
    { ...good, createdAt: "1" },
    { ...good, digest: "x" },
  ];
  const tokens = createClientTokens(folder.path);
  await folder.write("client-tokens.json", { v: 1, tokens: [...damaged, good] });
  expect(await tokens.list()).toEqual([{ client: "a", createdAt: 1 }]);
  await folder.write("client-tokens.json", { v: 2, tokens: [good, good] });
  expect(await tokens.list()).toEqual([]);
});
