import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, chmod, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { scaled, temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { HostError } from "../../../src/errors.ts";
import { createLedger, type Ledger, type LedgerOptions } from "../../../src/policy/ledger/ledger.ts";
import type { LedgerEntry } from "../../../src/policy/ledger/ledger-entry.ts";
import { buildProgram } from "../../support/build-program.ts";
import { called } from "../../support/ledger-sample.ts";

const noon = Date.parse("2026-01-31T12:00:00Z");

function ledgerIn(folder: string, options: Partial<LedgerOptions> = {}): Ledger {
  return createLedger({ folder, keepArguments: () => false, now: () => noon, ...options });
}

const namesOf = (entries: readonly LedgerEntry[]): readonly string[] => entries.map(({ tool }) => tool);

describe("an entry", () => {
  test("says when, what, who decided and what came of it, and has the arguments' digest only", async () => {
    await using home = await temporaryFolder();
    const folder = join(home.path, "ledger");
    const ledger = ledgerIn(folder);
    await ledger.write(called);
    const { arguments: _arguments, ...told } = called;
    const [entry] = await ledger.read();
    expect(entry).toEqual({
      ...told,
      time: "2026-01-31T12:00:00.000Z",
      argumentsDigest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
    const text = await readFile(join(folder, "000001.jsonl"), "utf8");
    expect(text).not.toContain("passwd");
    expect(text).toMatch(/^\{.*\}\n$/);
  });

  test("has the arguments themselves where the settings ask for that, unless they are very long", async () => {
    await using home = await temporaryFolder();
    const ledger = ledgerIn(home.path, { keepArguments: () => true });
    await ledger.write(called);
    await ledger.write({ ...called, arguments: { text: "x".repeat(100_000) } });
    const [short, long] = await ledger.read();
    expect(short?.arguments).toEqual(called.arguments);
    expect(long).toBeDefined();
    expect(long).not.toHaveProperty("arguments");
  });

  test("is no longer than its file can bear, whatever names and sentences are in it", async () => {
    await using home = await temporaryFolder();
    const ledger = ledgerIn(home.path);
    await ledger.write({ ...called, server: "s".repeat(1e6), tool: "\u0000\n".repeat(1e6), rule: "r".repeat(1e6) });
    expect((await stat(join(home.path, "000001.jsonl"))).size).toBeLessThan(50_000);
    expect(await ledger.read()).toHaveLength(1);
  });
});

test("a ledger that is closed has written what it was given, also what was being written", async () => {
  await using home = await temporaryFolder();
  const ledger = ledgerIn(home.path);
  const written = ledger.write(called);
  await ledger.close();
  expect(await readFile(join(home.path, "000001.jsonl"), "utf8")).toContain(called.tool);
  await written;
});

describe("the digest of arguments", () => {
  const digest = async (folder: string, args: Readonly<Record<string, unknown>>): Promise<string | undefined> => {
    const ledger = ledgerIn(folder);
    await ledger.write({ ...called, arguments: args });
    return (await ledger.read()).at(-1)?.argumentsDigest;
  };

  test("is the same for the same arguments in another order, and for no others", async () => {
    await using home = await temporaryFolder();
    const first = await digest(home.path, { a: 1, b: { c: 2, d: 3 } });
    expect(await digest(home.path, { b: { d: 3, c: 2 }, a: 1 })).toBe(first);
    expect(await digest(home.path, { a: 1, b: { c: 2, d: 4 } })).not.toBe(first);
  });

  test("is another on another machine: who has only the ledger cannot try arguments out", async () => {
    await using here = await temporaryFolder();
    await using there = await temporaryFolder();
    expect(await digest(here.path, { a: 1 })).not.toBe(await digest(there.path, { a: 1 }));
  });
});

describe("on the disk", () => {
  test("it is for its owner alone", async () => {
    await using home = await temporaryFolder();
    const folder = join(home.path, "state", "ledger");
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o755);
    await ledgerIn(folder).write(called);
    const modes = await Promise.all(
      [folder, join(folder, "000001.jsonl"), join(folder, "key")].map((path) => stat(path)),
    );
    expect(modes.map(({ mode }) => (mode & 0o777).toString(8))).toEqual(["700", "600", "600"]);
  });

  test("a full file is left alone, and of the files the oldest goes", async () => {
    await using home = await temporaryFolder();
    const ledger = ledgerIn(home.path, { limits: { fileBytes: 500, files: 3 } });
    for (let index = 0; index < 20; index += 1) await ledger.write({ ...called, tool: `t${index}` });
    const files = (await readdir(home.path)).filter((name) => name.endsWith(".jsonl"));
    expect(files).toEqual(["000008.jsonl", "000009.jsonl", "000010.jsonl"]);
    expect(namesOf(await ledger.read())).toEqual(["t14", "t15", "t16", "t17", "t18", "t19"]);
  });

  test("an entry goes to the file of the one before, without a look for newer files, until that file is full", async () => {
    await using home = await temporaryFolder();
    const ledger = ledgerIn(home.path, { limits: { fileBytes: 500, files: 9 } });
    for (const [file, newer] of [
      ["000001.jsonl", "000002.jsonl"],
      ["000003.jsonl", "000004.jsonl"],
    ] as const) {
      await ledger.write({ ...called, tool: "first" });
      await home.write(newer, "full ".repeat(100));
      await ledger.write({ ...called, tool: "second" });
      expect((await readFile(join(home.path, file), "utf8")).match(/first|second/g)).toEqual(["first", "second"]);
    }
  });

  test.each([
    ["the middle of a line", Buffer.from('{"time":"2026')],
    ["the middle of a character", Buffer.from('{"time":"ä').subarray(0, -1)],
    ["something that is no entry", Buffer.from('{"time":1}\n[]\nnull\n\n')],
  ])("what was torn in %s spoils neither what stands before it nor what comes after", async (_where, torn) => {
    await using home = await temporaryFolder();
    const ledger = ledgerIn(home.path);
    await ledger.write({ ...called, tool: "before" });
    await appendFile(join(home.path, "000001.jsonl"), torn);
    expect(namesOf(await ledger.read())).toEqual(["before"]);
    await ledger.write({ ...called, tool: "after" });
    expect(namesOf(await ledger.read())).toEqual(["before", "after"]);
  });

  test("an entry of a word that does not exist is none", async () => {
    await using home = await temporaryFolder();
    const ledger = ledgerIn(home.path);
    await ledger.write(called);
    const line = await readFile(join(home.path, "000001.jsonl"), "utf8");
    for (const [word, other] of [
      ['"ok"', '"fine"'],
      ['"allow"', '"maybe"'],
      ['"tool"', '"spell"'],
      ["12", '"12"'],
    ] as const)
      await appendFile(join(home.path, "000001.jsonl"), line.replace(word, other));
    expect(await ledger.read()).toHaveLength(1);
  });

  test("where nothing can be written the caller is told, and the next entry is tried again", async () => {
    await using home = await temporaryFolder();
    const folder = await home.write("ledger", "in the way");
    const ledger = ledgerIn(folder);
    await expect(ledger.write(called)).rejects.toBeInstanceOf(HostError);
    await ledger.close();
    expect(await readFile(folder, "utf8")).toBe("in the way");
    await rm(folder);
    await ledger.write({ ...called, tool: "next" });
    expect(namesOf(await ledger.read())).toEqual(["next"]);
  });

  test("where a file cannot be added to the caller is told, and the next entry is tried again", async () => {
    await using home = await temporaryFolder();
    const ledger = ledgerIn(home.path);
    const file = join(home.path, "000001.jsonl");
    await mkdir(file);
    const first = ledger.write({ ...called, tool: "lost" });
    const second = ledger.write({ ...called, tool: "lost too" });
    await expect(first).rejects.toMatchObject({ code: "internal" });
    await expect(second).rejects.toMatchObject({ code: "internal" });
    await rm(file, { recursive: true });
    await ledger.write({ ...called, tool: "next" });
    expect(namesOf(await ledger.read())).toEqual(["next"]);
  });

  test("several processes write at once: every entry is there, whole, under one key", async () => {
    await using home = await temporaryFolder();
    const program = await buildProgram("write-ledger", home.path);
    const folder = join(home.path, "ledger");
    const each = scaled(500);
    const writers = ["a", "b", "c", "d"].map(async (name) => {
      const child = spawn(process.execPath, [program, folder, name, String(each)], { stdio: "inherit" });
      expect(await once(child, "close")).toEqual([0, null]);
      return Array.from({ length: each }, (_, index) => `${name}-${index}`);
    });
    const expected = await Promise.all(writers);
    const entries = await ledgerIn(folder).read();
    expect(entries).toHaveLength(4 * each);
    for (const [at, name] of ["a", "b", "c", "d"].entries())
      expect(namesOf(entries.filter(({ server }) => server === name)).toSorted()).toEqual(expected[at]?.toSorted());
    expect(new Set(entries.map(({ argumentsDigest }) => argumentsDigest)).size).toBe(1);
  });
});

describe("reading", () => {
  test("gives the newest of those that match, newest last, also across files", async () => {
    await using home = await temporaryFolder();
    const ledger = ledgerIn(home.path, { limits: { fileBytes: 700, files: 9 } });
    for (let index = 0; index < 10; index += 1)
      await ledger.write({ ...called, tool: `t${index}`, server: index % 2 === 0 ? "even" : "odd" });
    expect(namesOf(await ledger.read({ limit: 3 }))).toEqual(["t7", "t8", "t9"]);
    expect(namesOf(await ledger.read({ limit: 3, matches: ({ server }) => server === "even" }))).toEqual([
      "t4",
      "t6",
      "t8",
    ]);
    expect(await ledger.read({ matches: () => false })).toEqual([]);
  });

  test("of a ledger that is not there gives nothing, and makes none", async () => {
    await using home = await temporaryFolder();
    expect(await ledgerIn(join(home.path, "ledger")).read()).toEqual([]);
    expect(await readdir(home.path)).toEqual([]);
  });

  test("leaves files alone that are not its own", async () => {
    await using home = await temporaryFolder();
    const ledger = ledgerIn(home.path);
    await writeFile(join(home.path, "notes.jsonl"), "mine");
    await ledger.write(called);
    expect(await ledger.read()).toHaveLength(1);
    expect(await readFile(join(home.path, "notes.jsonl"), "utf8")).toBe("mine");
  });
});
