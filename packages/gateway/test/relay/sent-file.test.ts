import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, it } from "vitest";
import { createSentFile, takeSentFile } from "../../src/relay/sent-file.ts";

it("keeps the note of every request without a response, however many follow it", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "one.sent");
  const file = createSentFile(path);
  file.add("slow", "files.slow");
  for (let id = 1; id <= 5000; id += 1) {
    file.add(id, "files.quick");
    if (id !== 4000) file.done(id);
  }
  expect(readFileSync(path, "utf8").split("\n").length).toBeLessThan(2100);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  file.close({ keep: true });
  const sent = takeSentFile(path, false);
  expect(sent?.get('"slow"')).toBe("files.slow");
  expect(sent?.get("4000")).toBe("files.quick");
  expect(existsSync(path)).toBe(false);
  expect(readdirSync(folder.path)).toEqual([]);
});

it("does not rewrite the file for each request", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "one.sent");
  const file = createSentFile(path);
  for (let id = 1; id <= 10; id += 1) {
    file.add(id, "files.quick");
    file.done(id);
  }
  expect(readFileSync(path, "utf8").split("\n")).toHaveLength(11);
  file.close({ keep: false });
});

it("removes its file unless a relay has to read it", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "one.sent");
  createSentFile(path).close({ keep: false });
  expect(existsSync(path)).toBe(false);
  expect(takeSentFile(path, false)).toEqual(new Map());
});

it("finds the notes before and after one that a full disk has cut off", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "one.sent");
  writeFileSync(path, '\n[1,"files.one"]\n[2,"fil\n["3","files.three"]');
  expect([...(takeSentFile(path, false) ?? [])]).toEqual([
    ["1", "files.one"],
    ['"3"', "files.three"],
  ]);
  expect(existsSync(path)).toBe(false);
});

it("says that anything may have been sent if its file cannot be read", async () => {
  await using folder = await temporaryFolder();
  // Reading a folder fails for every user, also where permissions do not count.
  expect(takeSentFile(folder.path, false)).toBeUndefined();
});
