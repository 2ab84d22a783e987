import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { changedSince } from "../../src/clients/connect-client.ts";
import { digestOf, type Receipt, ReceiptStore } from "../../src/clients/receipts.ts";

const receipt: Receipt = {
  client: "cursor",
  file: "/home/me/.cursor/mcp.json",
  before: digestOf("{}"),
  after: digestOf("{ }"),
  entry: { command: "fairlead", args: ["serve"] },
  moved: ["files"],
  folders: ["/home/me/.cursor"],
  written: "2026-01-02T00:00:00.000Z",
};

test("a digest is the SHA-256 of the text in hex", () => {
  expect(digestOf("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});

test("a stored receipt is read with the text before it, and is gone after its removal", async () => {
  await using folder = await temporaryFolder();
  const receipts = new ReceiptStore(folder.path);
  expect([await receipts.list(), await receipts.read("cursor", receipt.file)]).toEqual([[], undefined]);
  await receipts.save(receipt, "{}");
  const base = `cursor-${digestOf(receipt.file).slice(0, 12)}`;
  expect((await readdir(join(folder.path, "clients"))).sort()).toEqual([`${base}.before`, `${base}.json`]);
  for (const name of [`${base}.before`, `${base}.json`])
    expect((await stat(join(folder.path, "clients", name))).mode & 0o777).toBe(0o600);
  expect(await receipts.list()).toEqual([receipt]);
  expect(await receipts.read("cursor", receipt.file)).toEqual(receipt);
  expect(await receipts.read("cursor", "/other")).toBeUndefined();
  expect(await receipts.read("zed", receipt.file)).toBeUndefined();
  expect(await receipts.textBefore(receipt)).toEqual({ text: "{}" });
  expect(await receipts.textBefore({ ...receipt, before: digestOf("other") })).toBe("lost");
  expect(await receipts.textBefore({ ...receipt, file: "/other" })).toBe("lost");
  await receipts.remove(receipt);
  expect(await readdir(join(folder.path, "clients"))).toEqual([]);
});

test("a receipt of a new file has no text before it, also if an earlier receipt had one", async () => {
  await using folder = await temporaryFolder();
  const receipts = new ReceiptStore(folder.path);
  await receipts.save(receipt, "{}");
  const fresh = { ...receipt, before: null };
  await receipts.save(fresh, undefined);
  expect(await receipts.list()).toEqual([fresh]);
  expect(await receipts.textBefore(fresh)).toEqual({ text: undefined });
  expect((await readdir(join(folder.path, "clients"))).filter((name) => name.endsWith(".before"))).toEqual([]);
});

test("receipts are listed in the order in which they were written, and other files are not receipts", async () => {
  await using folder = await temporaryFolder();
  const receipts = new ReceiptStore(folder.path);
  const days = ["03", "01", "04", "02"];
  for (const day of days)
    await receipts.save({ ...receipt, file: `/${day}`, written: `2026-01-${day}T00:00:00.000Z` }, undefined);
  await writeFile(join(folder.path, "clients", "notes.txt"), JSON.stringify(receipt));
  expect((await receipts.list()).map(({ file }) => file)).toEqual(["/01", "/02", "/03", "/04"]);
});

test.each<[string, object]>([
  ["an unknown client", { client: "emacs" }],
  ["a client that is no text", { client: 1 }],
  ["a file that is no text", { file: 1 }],
  ["a digest that is no text", { before: 1 }],
  ["no new digest", { after: null }],
  ["an entry that is no object", { entry: "x" }],
  ["servers that are no list", { moved: "x" }],
  ["a server that is no text", { moved: ["x", 1] }],
  ["folders that are no list", { folders: {} }],
  ["a folder that is no text", { folders: [1, "x"] }],
  ["no time", { written: 1 }],
])("a receipt with %s counts as none", async (_, change) => {
  await using folder = await temporaryFolder();
  const receipts = new ReceiptStore(folder.path);
  await receipts.save(receipt, "{}");
  const path = join(folder.path, "clients", `cursor-${digestOf(receipt.file).slice(0, 12)}.json`);
  await writeFile(path, JSON.stringify({ ...receipt, ...change }));
  expect(await receipts.read("cursor", receipt.file)).toBeUndefined();
});

test("the error for a changed file names the file and how to remove only the entry", () => {
  expect(changedSince(receipt)).toMatchObject({
    code: "changed",
    message: "/home/me/.cursor/mcp.json has changed since fairlead connect wrote it, so disconnect did not write to it",
    next: "To remove only Fairlead's entry: fairlead disconnect cursor --force",
  });
});
