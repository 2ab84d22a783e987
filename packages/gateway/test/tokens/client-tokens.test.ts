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
