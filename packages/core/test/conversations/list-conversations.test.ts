import { mkdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { findConversation, listConversations } from "../../src/conversations/list-conversations.ts";
import { expectRefusal } from "../support/expect-refusal.ts";

const time = "2026-01-31T09:30:00.000Z";
const idOf = (nth: number): string => `20260131-09300${nth}-a1b2c${nth}`;

/** Writes a conversation whose file was changed `changed` seconds after 1970. */
async function record(folder: TemporaryFolder, nth: number, changed: number, lines: readonly object[] = [], more = {}) {
  const id = idOf(nth);
  const head = { v: 1, id, time, workspace: "/w", model: { provider: "p", name: "m" }, ...more };
  const all = [head, ...lines.map((line) => ({ time, ...line }))];
  const text = all.map((line) => `${JSON.stringify(line)}\n`).join("");
  const file = await folder.write(`${id}.jsonl`, text);
  await utimes(file, changed, changed);
  return text;
}

const idsIn = async (...given: Parameters<typeof listConversations>) =>
  (await listConversations(...given)).map(({ id }) => id);

test("a conversation is described by its lines", async () => {
  await using folder = await temporaryFolder();
  const text = await record(folder, 1, 60, [
    { type: "title", title: "one" },
    { type: "input", text: "x".repeat(300) },
    { type: "response", index: 0 },
    { type: "input", text: "second" },
    { type: "response", index: 1 },
    { type: "response", index: 2 },
    { type: "model", provider: "q", name: "n" },
    { type: "resumed", workspace: "/other" },
    { type: "title", title: `two ${"y".repeat(300)}` },
    { type: "text", text: '"type":"input"' },
  ]);
  expect(await listConversations(folder.path)).toEqual([
    {
      id: idOf(1),
      title: `two ${"y".repeat(195)}…`,
      firstWords: `${"x".repeat(199)}…`,
      startedAt: time,
      updatedAt: "1970-01-01T00:01:00.000Z",
      workspace: "/other",
      model: { provider: "q", name: "n" },
      turns: 2,
      calls: 3,
      bytes: Buffer.byteLength(text),
    },
  ]);
});

test("a conversation without messages has no words and no title; broken lines change nothing", async () => {
  await using folder = await temporaryFolder();
  await record(folder, 1, 60);
  const file = `${idOf(2)}.jsonl`;
  const text = await record(folder, 2, 60, [
    { type: "input", text: 1 },
    { type: "input", text: "second" },
    { type: "resumed" },
    { type: "model" },
  ]);
  await folder.write(file, `${text}{"time":"${time}","type":"title","title":"to`);
  const described = { startedAt: time, workspace: "/w", calls: 0 };
  expect(await listConversations(folder.path)).toMatchObject([
    { ...described, id: idOf(2), firstWords: "", workspace: "", model: { provider: "", name: "" }, turns: 2 },
    { ...described, id: idOf(1), firstWords: "", model: { provider: "p", name: "m" }, turns: 0 },
  ]);
  expect((await listConversations(folder.path)).map(({ title }) => title)).toEqual([undefined, undefined]);
});

test("the latest come first, equal ones by id; the limit and the workspace are respected", async () => {
  await using folder = await temporaryFolder();
  await record(folder, 1, 100);
  await record(folder, 2, 300, [], { workspace: "/other" });
  await record(folder, 3, 100);
  await record(folder, 4, 200);
  expect(await idsIn(folder.path)).toEqual([2, 4, 3, 1].map(idOf));
  expect(await idsIn(folder.path, { limit: 2 })).toEqual([2, 4].map(idOf));
  expect(await idsIn(folder.path, { limit: 0 })).toEqual([]);
  expect(await idsIn(folder.path, { workspace: "/w", limit: 2 })).toEqual([4, 3].map(idOf));
});

test("other files and folders are skipped, and a missing folder has no conversations", async () => {
  await using folder = await temporaryFolder();
  await record(folder, 1, 100);
  await folder.write(`${idOf(2)}.jsonl`, "{}\n");
  await folder.write(`${idOf(3)}.jsonl`, "");
  // The id in the file is that of another conversation.
  await record(folder, 4, 100, [], { id: idOf(1) });
  await folder.write(`${idOf(5)}.json`, await folder.read(`${idOf(1)}.jsonl`));
  await folder.write("notes.jsonl", "");
  await mkdir(join(folder.path, `${idOf(6)}.jsonl`));
  expect(await idsIn(folder.path)).toEqual([idOf(1)]);
  expect(await listConversations(join(folder.path, "none"))).toEqual([]);
  expect(await listConversations(join(folder.path, "notes.jsonl"))).toEqual([]);
});

test("a conversation is found by its id or by the beginning of it", async () => {
  await using folder = await temporaryFolder();
  await record(folder, 1, 100);
  await record(folder, 2, 100);
  await folder.write(`${idOf(3)}.jsonl`, "{}\n");
  expect(await findConversation(folder.path, idOf(2))).toMatchObject({ id: idOf(2) });
  expect(await findConversation(folder.path, idOf(1).slice(0, 16))).toMatchObject({ id: idOf(1) });
  const refused = (wanted: string, message: string) =>
    expectRefusal(findConversation(folder.path, wanted), {
      code: "not_found",
      message: new RegExp(`^${message}$`),
      next: /^fairlead conversations$/,
    });
  await refused("2026", 'the ids of 3 conversations begin with "2026"');
  for (const wanted of ["", "2027", idOf(1).slice(1), idOf(3)])
    await refused(wanted, `there is no conversation "${wanted}"`);
});
