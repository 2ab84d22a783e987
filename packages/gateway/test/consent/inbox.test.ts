import { readdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { openInbox } from "../../src/consent/inbox.ts";
import { readAnswer } from "../../src/consent/inbox-answers.ts";
import { entryFiles, inboxFolder, removeEntry, writeEntry } from "../../src/consent/inbox-folder.ts";

const question = {
  client: "cursor",
  server: "files",
  kind: "tool",
  name: "write_file",
  args: { path: "a.txt" },
  reason: "",
  key: "0".repeat(64),
  digest: "0".repeat(64),
  answers: ["no", "once"],
} as const;

test("a question whose answer is being used is neither listed nor answered again", async () => {
  await using state = await temporaryFolder();
  const folder = inboxFolder(state.path);
  const { id } = await writeEntry(folder, question, Date.now(), new Set());
  const inbox = openInbox(state.path);
  expect(await inbox.answer(id, "once", "the first place")).toMatchObject({ isFirst: true });
  // The gateway stopped here: the answer is used, the question not yet removed.
  await rename(join(folder, `${id}.answer.json`), join(folder, `${id}.${Date.now().toString(36)}.done.json`));
  expect(await entryFiles(folder)).toHaveLength(1);
  expect(await inbox.list()).toEqual([]);
  expect(await inbox.answer(id, "no", "the second place")).toMatchObject({
    answer: "once",
    by: "the first place",
    isFirst: false,
  });
});

test("an answer belongs to the question that the person saw, not to another one with its id", async () => {
  await using state = await temporaryFolder();
  const folder = inboxFolder(state.path);
  const entry = await writeEntry(folder, question, Date.now(), new Set());
  const inbox = openInbox(state.path);
  const another = { key: "1".repeat(64) };
  await expect(inbox.answer(entry.id, "once", "the terminal", another)).rejects.toMatchObject({ code: "not_found" });
  expect(await inbox.answer(entry.id, "once", "the terminal", question)).toMatchObject({ isFirst: true });
  expect(await readAnswer(folder, entry)).toMatchObject({ answer: "once" });
  expect(await readAnswer(folder, { id: entry.id, key: "1".repeat(32) })).toBeUndefined();
});

test("a damaged answer is no answer", async () => {
  await using state = await temporaryFolder();
  const folder = inboxFolder(state.path);
  const { id } = await writeEntry(folder, question, Date.now(), new Set());
  await writeFile(join(folder, `${id}.answer.json`), '{"answer":"yes');
  expect((await openInbox(state.path).list()).map((entry) => entry.id)).toEqual([id]);
});

test("no id of a withdrawn question is used again soon, and no two questions get one id", async () => {
  await using state = await temporaryFolder();
  const folder = inboxFolder(state.path);
  const ids = new Set<string>();
  for (let count = 0; count < 40; count += 1) {
    const entry = await writeEntry(folder, question, Date.now(), new Set());
    ids.add(entry.id);
    await removeEntry(folder, entry);
  }
  const together = await Promise.all(
    Array.from({ length: 8 }, (_, at) =>
      writeEntry(folder, { ...question, key: String(at).repeat(64) }, Date.now(), new Set()),
    ),
  );
  for (const { id } of together) ids.add(id);
  expect(ids.size).toBe(48);
  expect((await readdir(folder)).filter((name) => name.startsWith("number-")).length).toBeLessThan(20);
});
