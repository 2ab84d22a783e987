import { appendFile, readdir, readFile, readlink, rm } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createLedgerWriter, ledgerFolder, readFiles } from "../../../src/policy/ledger/ledger.ts";

const limits = { fileBytes: 10, files: 2 };

async function filesIn(folder: string): Promise<readonly (readonly [string, string])[]> {
  const names = (await readdir(folder)).sort();
  return Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), "utf8")] as const));
}

test("the writer begins a new file when the last one has `fileBytes` or more, and deletes the oldest beyond `files`", async () => {
  await using home = await temporaryFolder();
  const writer = createLedgerWriter(home.path, limits);
  for (const line of ["12345678", "abc", "defghi", "j"]) await writer.append([line]);
  // The first line has nine bytes, which is less than the limit, so the first file takes one more line.
  expect(await filesIn(home.path)).toEqual([
    ["000001.jsonl", "12345678\nabc\n"],
    ["000002.jsonl", "defghi\nj\n"],
  ]);
  for (const line of ["k", "l"]) await writer.append([line]);
  expect(await filesIn(home.path)).toEqual([
    ["000002.jsonl", "defghi\nj\nk\n"],
    ["000003.jsonl", "l\n"],
  ]);
});

test.each([
  ["the same writer", true],
  ["a new writer", false],
])("a file of exactly `fileBytes` is full for %s", async (_, isSame) => {
  await using home = await temporaryFolder();
  const writer = createLedgerWriter(home.path, limits);
  await writer.append(["123456789"]);
  await (isSame ? writer : createLedgerWriter(home.path, limits)).append(["a"]);
  expect(await filesIn(home.path)).toEqual([
    ["000001.jsonl", "123456789\n"],
    ["000002.jsonl", "a\n"],
  ]);
});

test.each([
  ["a whole line", "b\n", "a\nb\nc\n"],
  ["half a line", "b", "a\nb\nc\n"],
])("after another process has added %s, the same writer and a new writer begin a new line", async (...row) => {
  const [, added, expected] = row;
  for (const isSame of [true, false]) {
    await using home = await temporaryFolder();
    const wide = { fileBytes: 100, files: 2 };
    const writer = createLedgerWriter(home.path, wide);
    await writer.append(["a"]);
    await appendFile(join(home.path, "000001.jsonl"), added);
    await (isSame ? writer : createLedgerWriter(home.path, wide)).append(["c"]);
    expect(await filesIn(home.path)).toEqual([["000001.jsonl", expected]]);
  }
});

test("a writer whose file another process has emptied or deleted adds no empty line", async () => {
  await using home = await temporaryFolder();
  const writer = createLedgerWriter(home.path, limits);
  await writer.append(["a"]);
  await home.write("000001.jsonl", "");
  await writer.append(["b"]);
  expect(await filesIn(home.path)).toEqual([["000001.jsonl", "b\n"]]);
  await rm(join(home.path, "000001.jsonl"));
  await writer.append(["c"]);
  expect(await filesIn(home.path)).toEqual([["000001.jsonl", "c\n"]]);
});

test("the reader yields the newest file first, and no lines for a file that is deleted meanwhile", async () => {
  await using home = await temporaryFolder();
  for (const [name, text] of [
    ["000002.jsonl", "b"],
    ["000010.jsonl", "c"],
    ["000001.jsonl", "a"],
  ] as const)
    await home.write(name, text);
  const read: (readonly string[])[] = [];
  for await (const lines of readFiles(home.path)) {
    read.push(lines);
    await rm(join(home.path, "000002.jsonl"), { force: true });
  }
  expect(read).toEqual([["c"], [], ["a"]]);
});

/** The files in the folder that this process has open. Always empty on systems without `/proc`. */
async function openFilesIn(folder: string): Promise<readonly string[]> {
  const descriptors = await readdir("/proc/self/fd").catch(() => []);
  const targets = await Promise.all(descriptors.map((each) => readlink(`/proc/self/fd/${each}`).catch(() => "")));
  return targets.filter((target) => target.startsWith(folder));
}

test("the writer creates its folder with the first line, and leaves no file open", async () => {
  await using home = await temporaryFolder();
  const folder = ledgerFolder(join(home.path, "state"));
  const writer = createLedgerWriter(folder, limits);
  for (const line of ["a", "b", "123456789", "c"]) {
    await writer.append([line]);
    expect(await openFilesIn(home.path)).toEqual([]);
  }
  expect(await filesIn(join(home.path, "state", "ledger"))).toEqual([
    ["000001.jsonl", "a\nb\n123456789\n"],
    ["000002.jsonl", "c\n"],
  ]);
});
