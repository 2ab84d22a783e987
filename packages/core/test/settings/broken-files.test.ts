import { readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { notePromise, scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseJsonc } from "../../src/files/json/jsonc.ts";
import { createWorld, serverOf, type World } from "../support/load-settings.ts";

const sample = Buffer.from(`// Ünïcode 日本 in a comment
{
  "$schema": "x",
  "theme": "dark", /* not ours */
  "mcpServers": {
    "files": { "command": "npx", "args": ["-y", "files", "~/nötes"], "env": { "A": "\${B:-c}" }, "timeout": 5e3 },
    "remote": { "url": "https://example.com/mcp", "headers": { "X": "\\u0041\\n" }, "trust": false, },
  },
  "mcp": { "allowed": ["files", "remote", "steady"], "serverCommand": "node 'a b' --x" },
  "fairlead": { "limits": { "callTotal": 1000 }, "servers": { "files": { "enabled": true } } },
}
`);

/** Loads with these bytes as the user's file, and checks what must hold whatever they are. */
async function loadBytes(world: World, bytes: Uint8Array): Promise<"read" | "broken"> {
  const long = new Date(1_000_000_000_000);
  await writeFile(world.userFile, bytes);
  await utimes(world.userFile, long, long);
  const settings = await world.load();
  const { files, problems, servers } = settings;
  const state = files.find(({ scope }) => scope === "user")?.state;
  const wrong = problems.filter(({ severity, origin }) => severity === "error" && origin?.scope === "user");

  expect(["read", "broken"]).toContain(state);
  if (state === "broken")
    expect(wrong).toEqual([
      expect.objectContaining({ origin: expect.objectContaining({ file: world.userFile, line: expect.any(Number) }) }),
    ]);
  for (const { definition, problems: own, scope } of servers) {
    expect(scope === "user" || scope === "system").toBe(true);
    if (definition === undefined) expect(own.some(({ severity }) => severity === "error")).toBe(true);
  }
  // A bad file takes nothing with it.
  if (state === "broken") expect(servers.map(({ name }) => name)).toEqual(["steady"]);
  expect(serverOf(settings, "steady").scope).toBe("system");

  expect(Buffer.compare(await readFile(world.userFile), bytes)).toBe(0);
  expect((await stat(world.userFile)).mtime).toEqual(long);
  expect(await readdir(dirname(world.userFile))).toEqual(["settings.json"]);
  return state === "broken" ? "broken" : "read";
}

function noteTries(what: string, tries: number): void {
  notePromise({
    group: "settings",
    promise: `a settings file ${what} is reported with its line, changes no other file's servers and is not written`,
    tries,
    failures: 0,
    load: "one file at a time",
  });
}

async function steadyWorld(): Promise<World> {
  const world = await createWorld();
  await world.writeSystem({ mcpServers: { steady: { command: "x" } } });
  await world.writeUser("{}");
  return world;
}

describe("a settings file that is not what it should be is reported and left as it is", () => {
  const start = sample.indexOf("{");
  const end = sample.lastIndexOf("}");

  test("cut at every byte, as the parser sees it", () => {
    for (let length = start + 1; length <= sample.length; length += 1) {
      const { errors } = parseJsonc(sample.toString("utf8", 0, length));
      expect([length, errors.length === 0]).toEqual([length, length > end]);
    }
  });

  test("cut here and there, every byte with `--long`, and where it begins and ends", async () => {
    await using world = await steadyWorld();
    expect(await loadBytes(world, sample)).toBe("read");
    const step = 10 / scaled(10);
    const lengths = Array.from({ length: Math.ceil(sample.length / step) }, (_, index) => index * step);
    for (const length of [...lengths, start, start + 1, end, end + 1]) {
      const state = await loadBytes(world, sample.subarray(0, length));
      if (length > start) expect([length, state]).toEqual([length, length > end ? "read" : "broken"]);
    }
    noteTries("cut at a byte", lengths.length);
  });

  const used = seed();
  test(`changed at random (seed ${used})`, async () => {
    await using world = await steadyWorld();
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 6 }),
      fc
        .constantFrom(
          "{",
          "}",
          "[",
          "]",
          ",",
          ":",
          '"',
          "\\",
          "null",
          "1e999",
          '"__proto__": {},',
          "//",
          "/*",
          "\0",
          "\uFEFF",
          "${",
        )
        .map((text) => Buffer.from(text)),
    );
    const change = fc.record({ at: fc.nat(sample.length), remove: fc.nat(40), insert: piece });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
        let bytes = sample;
        for (const { at, remove, insert } of changes)
          bytes = Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + remove)]);
        await loadBytes(world, bytes);
      }),
      { numRuns: scaled(5000, 80), seed: used },
    );
    noteTries("damaged", scaled(5000, 80));
  });

  test("made of other JSON altogether", async () => {
    await using world = await steadyWorld();
    await fc.assert(
      fc.asyncProperty(
        fc.json(),
        fc.constantFrom("", "mcpServers", "mcp", "fairlead", "security"),
        async (json, key) => {
          await loadBytes(world, Buffer.from(key === "" ? json : `{ "${key}": ${json} }`));
        },
      ),
      { numRuns: scaled(1000, 50), seed: used },
    );
    noteTries("replaced by other JSON", scaled(1000, 50));
  });
});
