import { chmod, mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { findResults, keepResult, type ResultFile, removeResults } from "../../src/files/result-files.ts";

const text = (data: string): ResultFile => ({ extension: "txt", data, encoding: "utf8" });
const limits = { files: 3, bytes: 100, milliseconds: 60_000 };

test("a result is kept whole, for its owner alone", async () => {
  await using folder = await temporaryFolder();
  const { path } = await keepResult(folder.path, { extension: "png", data: "AAEC/w==", encoding: "base64" });
  expect(await readFile(path)).toEqual(Buffer.from([0, 1, 2, 255]));
  expect(basename(path)).toMatch(/^\d{4}-\d\d-\d\dT[\d-]+Z-[0-9a-f]{12}[.]png$/);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(join(folder.path, "results"))).mode & 0o777).toBe(0o700);
});

test("only the newest stay when there are too many", async () => {
  await using folder = await temporaryFolder();
  const paths: string[] = [];
  for (const data of ["a", "b", "c", "d", "e"]) paths.push((await keepResult(folder.path, text(data), limits)).path);
  const left = await readdir(join(folder.path, "results"));
  expect(left).toHaveLength(3);
  expect(left).toContain(basename(paths.at(-1) ?? ""));
});

test("the older go when all together are too big; the one just written stays in any case", async () => {
  await using folder = await temporaryFolder();
  await keepResult(folder.path, text("a".repeat(60)), limits);
  const { path } = await keepResult(folder.path, text("b".repeat(200)), limits);
  expect(await readdir(join(folder.path, "results"))).toEqual([basename(path)]);
});

test("results that are exactly as big as the limit stay, and one byte more is too much", async () => {
  await using folder = await temporaryFolder();
  const { path: first } = await keepResult(folder.path, text("a".repeat(60)), limits);
  const { path: second } = await keepResult(folder.path, text("b".repeat(40)), limits);
  const results = join(folder.path, "results");
  expect((await readdir(results)).sort()).toEqual([basename(first), basename(second)].sort());
  await keepResult(folder.path, text("c"), limits);
  expect(await readdir(results)).toHaveLength(2);
});

test("what is old goes, and nothing that is not ours", async () => {
  await using folder = await temporaryFolder();
  const results = join(folder.path, "results");
  const { path: old } = await keepResult(folder.path, text("old"), limits);
  await utimes(old, 1, 1);
  await writeFile(join(results, "notes.txt"), "a person's own");
  await utimes(join(results, "notes.txt"), 1, 1);
  await writeFile(join(folder.path, "outside"), "x");
  await symlink(join(folder.path, "outside"), join(results, "2000-01-01T00-00-00-000Z-00000000.txt"));
  const { path } = await keepResult(folder.path, text("new"), limits);
  expect((await readdir(results)).sort()).toEqual(
    ["2000-01-01T00-00-00-000Z-00000000.txt", basename(path), "notes.txt"].sort(),
  );
});

test("without other limits a result is kept for seven days", async () => {
  await using folder = await temporaryFolder();
  const kept = await Promise.all(["six days", "eight days"].map((data) => keepResult(folder.path, text(data))));
  const day = 24 * 60 * 60;
  for (const [at, days] of [6, 8].entries()) {
    const time = Date.now() / 1000 - days * day;
    await utimes(kept[at]?.path ?? "", time, time);
  }
  const { path } = await keepResult(folder.path, text("new"));
  expect((await readdir(join(folder.path, "results"))).sort()).toEqual(
    [basename(kept[0]?.path ?? ""), basename(path)].sort(),
  );
});

test("where nothing can be written, the error says where", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "results"), "a file");
  await expect(keepResult(folder.path, text("a"))).rejects.toThrow(/results cannot be written: /);
});

test("a folder that others could look into is closed to them", async () => {
  await using folder = await temporaryFolder();
  await mkdir(join(folder.path, "results"));
  await chmod(join(folder.path, "results"), 0o755);
  await keepResult(folder.path, text("a"));
  expect((await stat(join(folder.path, "results"))).mode & 0o777).toBe(0o700);
});

test("a stored result is found by its id, and nothing else is", async () => {
  await using folder = await temporaryFolder();
  expect(await findResults(folder.path, new Set(["000000000000"]))).toEqual([]);
  const kept = await keepResult(folder.path, text("a"));
  await keepResult(folder.path, text("b"));
  expect(await findResults(folder.path, new Set([kept.id, "../x", ""]))).toEqual([kept]);
});

test("results before a moment are removed, or only counted", async () => {
  await using folder = await temporaryFolder();
  const { path: old } = await keepResult(folder.path, text("old"));
  const { path } = await keepResult(folder.path, text("new"));
  await utimes(old, 1, 1);
  expect(await removeResults(folder.path, 2000, { dryRun: true })).toEqual({ files: 1, bytes: 3 });
  expect(await removeResults(folder.path, 2000)).toEqual({ files: 1, bytes: 3 });
  expect(await readdir(join(folder.path, "results"))).toEqual([basename(path)]);
});

test("results that are stored at the same time do not fail when one removes the files of another", async () => {
  await using folder = await temporaryFolder();
  const one = { ...limits, files: 1 };
  const storing = Array.from({ length: 30 }, (_, at) => keepResult(folder.path, text(`${at}`), one));
  const removing = removeResults(folder.path, Date.now() + 60_000);
  expect(await Promise.all(storing)).toHaveLength(30);
  await removing;
  const { path } = await keepResult(folder.path, text("last"), one);
  expect(await readdir(join(folder.path, "results"))).toEqual([basename(path)]);
});
