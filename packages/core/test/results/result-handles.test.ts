import { expect, test } from "vitest";
import type { StoredFile } from "../../src/files/result-files.ts";
import type { LeftOut } from "../../src/normalise/content/parts.ts";
import { ResultHandles, type StoredResult } from "../../src/results/result-handles.ts";

const text = (what: string): LeftOut => ({ what, extension: "txt", data: what, encoding: "utf8" });
const picture: LeftOut = { what: "a picture", extension: "png", data: "QUJD", encoding: "base64" };

/** Handles whose files are only in a list: the first file has the id `id1`. */
function handles(earlier: readonly StoredResult[] = [], files: StoredFile[] = []) {
  const recorded: StoredResult[] = [];
  const store = async (): Promise<StoredFile> => {
    const id = `id${files.length + 1}`;
    const file = { id, path: `/results/${id}` };
    files.push(file);
    return file;
  };
  const find = async (ids: ReadonlySet<string>) => files.filter(({ id }) => ids.has(id));
  const at = new ResultHandles(store, find, (one) => recorded.push(one), earlier);
  return { at, recorded };
}

test("a stored text has a handle, is recorded, and is found by its handle or id with its server", async () => {
  const { at, recorded } = handles();
  expect(at.isUsed).toBe(false);
  expect(await at.keep(text("one"), "s")).toEqual({ path: "/results/id1", handle: "result://id1" });
  expect(await at.keep(text("two"))).toEqual({ path: "/results/id2", handle: "result://id2" });
  expect(at.isUsed).toBe(true);
  expect(recorded).toEqual([
    { id: "id1", what: "one", server: "s" },
    { id: "id2", what: "two" },
  ]);
  expect(await at.find("result://id1")).toEqual({ path: "/results/id1", server: "s" });
  expect(await at.find("id2")).toEqual({ path: "/results/id2" });
});

test("stored bytes have a file, but no handle", async () => {
  const { at, recorded } = handles();
  expect(await at.keep(picture, "s")).toEqual({ path: "/results/id1" });
  expect([at.isUsed, recorded]).toEqual([false, []]);
  await expect(at.find("result://id1")).rejects.toMatchObject({ code: "not_found" });
});

test("the results of a resumed conversation are found and not recorded again", async () => {
  const { at, recorded } = handles([{ id: "old", what: "an old one", server: "s" }], [{ id: "old", path: "/old" }]);
  expect(at.isUsed).toBe(true);
  expect(await at.find("result://old")).toEqual({ path: "/old", server: "s" });
  expect(recorded).toEqual([]);
});

test("an unknown handle is named with the results that exist, the latest first", async () => {
  const { at } = handles([{ id: "gone", what: "a deleted one" }]);
  await expect(at.find("result://x")).rejects.toMatchObject({
    code: "not_found",
    message: 'there is no result "result://x"; no results are stored',
  });
  await expect(at.find("gone")).rejects.toMatchObject({ message: 'there is no result "gone"; no results are stored' });
  await at.keep(text("one"));
  await at.keep(text("two"));
  await expect(at.find("x".repeat(101))).rejects.toMatchObject({
    message: `there is no result "${"x".repeat(100)}"; stored results: result://id2 (two), result://id1 (one)`,
  });
});

test("a file of another conversation is not found", async () => {
  const { at } = handles([], [{ id: "foreign", path: "/foreign" }]);
  await expect(at.find("result://foreign")).rejects.toMatchObject({ code: "not_found" });
});

test("at most twenty results are named", async () => {
  const { at } = handles();
  for (let count = 0; count < 21; count += 1) await at.keep(text("t"));
  const failure: unknown = await at.find("x").catch((error: unknown) => error);
  const listed = String(failure).match(/result:\/\/id\d+/g) ?? [];
  expect([listed.length, listed[0], listed.at(-1)]).toEqual([20, "result://id21", "result://id2"]);
});
