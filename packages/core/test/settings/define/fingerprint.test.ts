import { isDeepStrictEqual } from "node:util";
import { scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createWorld, serverOf, type World } from "../../support/load-settings.ts";

const approved = {
  command: "$TOOL_DIR/server",
  args: ["--root", "$PWD", "--mode", "read", "--mode"],
  env: { TOKEN: "${TOKEN:-none}", LEVEL: "1" },
  cwd: "sub",
  timeout: 5000,
  trust: false,
  includeTools: ["a", "b"],
  excludeTools: ["c"],
  description: "shown to people",
};
const remote = {
  url: "https://example.com/mcp",
  type: "http",
  headers: { Authorization: "Bearer $TOKEN", "X-Team": "a" },
  oauth: { enabled: true, clientId: "me", scopes: ["read", "write"] },
  authProviderType: "oauth",
};

async function fingerprintOf(world: World, entry: unknown): Promise<string | undefined> {
  await world.writeWorkspace({ mcpServers: { s: entry } });
  const settings = await world.load({ env: { TOKEN: "t" } });
  return serverOf(settings, "s").definition?.fingerprint;
}

interface Mutation {
  /** Which of all the places below the entry. */
  readonly place: number;
  readonly how: "replace" | "remove" | "add" | "rename" | "swap";
  readonly text: string;
  readonly value: unknown;
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  place: fc.nat(1000),
  how: fc.constantFrom("replace", "remove", "add", "rename", "swap"),
  text: fc.oneof(
    fc.string({ maxLength: 5 }),
    fc.constantFrom("__proto__", "command", "url", "args", "env", "trust", "$A", "a\0"),
  ),
  value: fc.oneof(
    fc.string({ maxLength: 8 }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(fc.string()),
    fc.dictionary(fc.string(), fc.string()),
  ),
});

/** A copy with one thing changed, anywhere but in `description`. */
function mutate(value: unknown, { place, how, text, value: other }: Mutation): unknown {
  const containers = containersOf(value);
  const target = containers[place % containers.length];
  const change = (node: unknown): unknown => {
    if (Array.isArray(node)) {
      const items = node.map(change);
      return node === target ? changeList(items, place, how, other) : items;
    }
    if (typeof node !== "object" || node === null) return node;
    const entries = Object.entries(node).map(([key, inner]): [string, unknown] => [key, change(inner)]);
    return Object.fromEntries(node === target ? changeEntries(entries, place, how, text, other) : entries);
  };
  return change(value);
}

function containersOf(node: unknown): readonly unknown[] {
  return typeof node === "object" && node !== null ? [node, ...Object.values(node).flatMap(containersOf)] : [];
}

function changeList(
  items: readonly unknown[],
  place: number,
  how: Mutation["how"],
  other: unknown,
): readonly unknown[] {
  const at = place % items.length;
  if (how === "remove") return items.toSpliced(at, 1);
  if (how === "swap") return [...items.slice(1), items[0]];
  return how === "add" ? items.toSpliced(at, 0, other) : items.with(at, other);
}

function changeEntries(
  entries: [string, unknown][],
  place: number,
  how: Mutation["how"],
  text: string,
  other: unknown,
): readonly [string, unknown][] {
  const at = place % entries.length;
  const [key, value] = entries[at] ?? ["", undefined];
  if (key === "description" || text === "description") return [...entries, [`${text}!`, other]];
  if (how === "remove") return entries.toSpliced(at, 1);
  if (how === "rename") return entries.with(at, [text, value]);
  return how === "replace" ? entries.with(at, [key, other]) : [...entries, [text, other]];
}

describe("the fingerprint of an approved entry", () => {
  const used = seed();
  test.each([
    ["stdio", approved],
    ["http", remote],
  ])(`changes with every change of it (%s; seed ${used})`, async (_kind, entry) => {
    await using world = await createWorld();
    await world.folder.write("workspace/.env", "TOOL_DIR=/tools\n");
    const original = await fingerprintOf(world, entry);
    expect(original).toMatch(/^[0-9a-f]{64}$/);
    const wanted = scaled(5000, 200);
    const mutants = fc
      .sample(mutation, { numRuns: wanted * 2, seed: used })
      .map((one) => mutate(entry, one))
      .filter((mutant) => !isDeepStrictEqual(mutant, entry))
      .slice(0, wanted);
    expect(mutants.length).toBe(wanted);
    // Many at once, as servers of one file: names are no part of a fingerprint.
    for (let start = 0; start < mutants.length; start += 500) {
      const some = mutants.slice(start, start + 500);
      await world.writeWorkspace({
        mcpServers: { same: entry, ...Object.fromEntries(some.map((mutant, at) => [`s${at}`, mutant])) },
      });
      const { servers } = await world.load({ env: { TOKEN: "t" } });
      const unchanged = servers
        .filter(({ definition }) => definition?.fingerprint === original)
        .map(({ name }) => name);
      expect(unchanged.map((name) => (name === "same" ? name : some[Number(name.slice(1))]))).toEqual(["same"]);
    }
  });

  test("stays the same under another description, order of keys, comments and spaces", async () => {
    await using world = await createWorld();
    await world.folder.write("workspace/.env", "TOOL_DIR=/tools\n");
    const original = await fingerprintOf(world, approved);
    const reversed = Object.fromEntries(Object.entries({ ...approved, description: "other" }).reverse());
    expect(await fingerprintOf(world, reversed)).toBe(original);
    await world.writeWorkspace(`// note\n{ "mcpServers": { "s": /* here */ ${JSON.stringify(approved)} } }`);
    expect(serverOf(await world.load({ env: { TOKEN: "other" } }), "s").definition?.fingerprint).toBe(original);
  });

  test("changes with what the workspace's own .env files put into it", async () => {
    await using world = await createWorld();
    const prints = new Set<string | undefined>();
    const entry = { command: "node", args: ["${SCRIPT:-index.js}"] };
    for (const content of ["", "SCRIPT=a.js\n", "SCRIPT=evil.js\n", "UNUSED=x\n"]) {
      await world.folder.write("workspace/.gemini/.env", content);
      prints.add(await fingerprintOf(world, entry));
    }
    // The first and the last are the same: what is not used is not approved.
    expect(prints.size).toBe(3);
  });

  test("changes with where the command leads", async () => {
    await using world = await createWorld();
    await world.writeUser({ mcpServers: { s: { command: "$TOOL" } } });
    const prints = await Promise.all(
      ["/a", "/b", "/a"].map(
        async (TOOL) => serverOf(await world.load({ env: { TOOL } }), "s").definition?.fingerprint,
      ),
    );
    expect(prints[0]).toBe(prints[2]);
    expect(prints[0]).not.toBe(prints[1]);
  });

  test("is the same before and after the folder is trusted, where no variable is in the command", async () => {
    await using world = await createWorld();
    await world.writeWorkspace({ mcpServers: { s: { command: "./x", env: { A: "$TOKEN" } } } });
    const [before, after] = await Promise.all(
      [false, true].map((trusted) => world.load({ trusted, env: { TOKEN: "t" } })),
    );
    expect(before?.servers[0]?.definition?.fingerprint).toBe(after?.servers[0]?.definition?.fingerprint);
  });
});
