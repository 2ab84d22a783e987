import { chmod, mkdir, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { scaled, seed, temporaryFolder } from "@fairlead/test-servers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readState, updateState } from "../../../src/files/atomic/state-file.ts";
import { limits } from "../../../src/limits.ts";
import { expectRefusal } from "../../support/expect-refusal.ts";

interface Count {
  readonly count: number;
}

function parse(value: unknown): Count | undefined {
  const isCount = typeof value === "object" && value !== null && "count" in value && typeof value.count === "number";
  return isCount ? { count: value.count as number } : undefined;
}

const increase = (value: Count | undefined): Count => ({ count: (value?.count ?? 0) + 1 });

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

test("what was stored is read again; nothing stored is undefined", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "state", "count.json");
  expect(await readState(file, parse)).toBeUndefined();
  expect(await readdir(folder.path)).toEqual([]);
  await updateState(file, parse, increase);
  await updateState(file, parse, increase);
  expect(await readState(file, parse)).toEqual({ count: 2 });
  expect(await folder.read("state/count.json")).toBe('{\n  "count": 2\n}\n');
});

test("a change that gives undefined writes nothing", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "count.json");
  await updateState(file, parse, () => undefined);
  expect(await readdir(folder.path)).toEqual([]);
});

test("changes at the same time are all counted", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "count.json");
  await Promise.all(Array.from({ length: 10 }, () => updateState(file, parse, increase)));
  expect(await readState(file, parse)).toEqual({ count: 10 });
});

describe("modes", () => {
  test("a new folder is 0700, a new file 0600", async () => {
    await using folder = await temporaryFolder();
    const home = join(folder.path, "home");
    await updateState(join(home, "count.json"), parse, increase);
    expect([await modeOf(home), await modeOf(join(home, "count.json"))]).toEqual(["700", "600"]);
  });

  test("wider ones are closed again, but only the folder itself, not those above", async () => {
    await using folder = await temporaryFolder();
    await folder.write("above/home/count.json", { count: 1 });
    const home = join(folder.path, "above", "home");
    await chmod(join(folder.path, "above"), 0o755);
    await chmod(home, 0o755);
    await chmod(join(home, "count.json"), 0o644);
    await updateState(join(home, "count.json"), parse, increase);
    expect(await modeOf(join(folder.path, "above"))).toBe("755");
    expect([await modeOf(home), await modeOf(join(home, "count.json"))]).toEqual(["700", "600"]);
  });

  test("a folder that is shared by design stays so", async () => {
    await using folder = await temporaryFolder();
    const shared = join(folder.path, "tmp");
    await mkdir(shared);
    await chmod(shared, 0o1777);
    await updateState(join(shared, "count.json"), parse, increase);
    expect([await modeOf(shared), await modeOf(join(shared, "count.json"))]).toEqual(["777", "600"]);
  });
});

describe("a corrupt file is set aside and counts as absent", () => {
  const garbage: readonly (readonly [what: string, make: (file: string) => Promise<unknown>])[] = [
    ["not JSON", (file) => writeFile(file, '{ "count": ')],
    ["empty", (file) => writeFile(file, "")],
    ["not what we wrote", (file) => writeFile(file, '{ "count": "two" }')],
    ["null", (file) => writeFile(file, "null")],
    ["not text", (file) => writeFile(file, Buffer.from([0xff, 0xfe, 0x00]))],
    ["too large", (file) => writeFile(file, `{"count": 1, "x": "${"x".repeat(limits.settingsBytes)}"}`)],
    ["a million brackets", (file) => writeFile(file, "[".repeat(1_000_000))],
    ["a folder", (file) => mkdir(file)],
  ];

  test.each(garbage)("when read: %s", async (_, make) => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, "count.json");
    await make(file);
    expect(await readState(file, parse)).toBeUndefined();
    expect(await readdir(folder.path)).toEqual([
      expect.stringMatching(/^count[.]json[.]corrupt-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d[.]\d{3}Z$/),
    ]);
  });

  test.each(garbage)("when changed: %s", async (_, make) => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, "count.json");
    await make(file);
    await updateState(file, parse, increase);
    expect(await readState(file, parse)).toEqual({ count: 1 });
    expect(await readdir(folder.path)).toHaveLength(2);
  });

  const randomSeed = seed();
  test(`random bytes never make it throw (seed ${randomSeed})`, async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, "count.json");
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 50 }), async (bytes) => {
        await writeFile(file, bytes);
        expect(await readState(file, parse)).toBeUndefined();
      }),
      { numRuns: scaled(500), seed: randomSeed },
    );
  });
});

test("what the system does not let us read is an error, and stays where it is", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "count.json");
  await symlink("count.json", file);
  await expectRefusal(readState(file, parse), {
    code: "internal",
    message: `${file} cannot be read: its symbolic links go in a circle`,
  });
  expect(await readdir(folder.path)).toEqual(["count.json"]);
});

test("a state folder that cannot be made is an error that names it", async () => {
  await using folder = await temporaryFolder();
  const home = join(await folder.write("file", ""), "home");
  await expectRefusal(updateState(join(home, "count.json"), parse, increase), {
    code: "internal",
    message: home,
  });
});
