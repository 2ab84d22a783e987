import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import type { ConsentQuestion } from "../../src/consent/confirmed-request.ts";
import {
  doneAnswer,
  isAnswered,
  readAnswer,
  useAnswer,
  useOfAnswer,
  writeAnswer,
} from "../../src/consent/inbox-answers.ts";
import {
  type EntryFile,
  entryFiles,
  grantTime,
  inboxFolder,
  makeLate,
  questionTime,
  readEntry,
  readInboxFile,
  removeEntry,
  writeEntry,
} from "../../src/consent/inbox-folder.ts";
import { parseProcess } from "../../src/consent/inbox-watchers.ts";

const question: ConsentQuestion = {
  who: "client",
  client: "cursor",
  server: "files",
  kind: "tool",
  name: "write_file",
  args: { path: "a.txt" },
  reason: "rule 1",
  key: "0123456789abcdef".repeat(4),
  digest: "d1",
  answers: ["no", "once"],
};
const now = 1_700_000_000_000;

async function inbox() {
  const state = await temporaryFolder();
  return { path: inboxFolder(state.path), [Symbol.asyncDispose]: () => state[Symbol.asyncDispose]() };
}

test("a stored confirmation is read back as the user must see it, from a file that only the user can read", async () => {
  await using at = await inbox();
  const change = [
    { member: "title", before: "a", after: "b" },
    { member: "x", after: "c" },
    { member: "y", before: "d" },
  ];
  const full: ConsentQuestion = {
    ...question,
    folder: "/w",
    hints: "destructive",
    flags: 'secret-file in description: "~/.ssh"',
    change,
    answers: ["no", "once", "conversation", "always"],
  };
  const entry = await writeEntry(at.path, full, now);
  expect(entry).toEqual({
    file: `${entry.id}.${now.toString(36)}.${"0123456789abcdef".repeat(2)}.${entry.client}.open.json`,
    id: expect.stringMatching(/^[2-9A-HJ-NP-Z]{3}$/),
    since: now,
    key: "0123456789abcdef".repeat(2),
    client: expect.stringMatching(/^[0-9a-f]{8}$/),
    state: "open",
  });
  expect(await entryFiles(at.path)).toEqual([entry]);
  expect(await readEntry(at.path, entry)).toEqual({
    ...full,
    id: entry.id,
    since: now,
    deadline: now + 3_600_000,
    isAwaited: true,
    isOwn: true,
  });
  expect((await stat(join(at.path, entry.file))).mode & 0o777).toBe(0o600);
  const stored = JSON.parse(await readFile(join(at.path, entry.file), "utf8"));
  expect(stored).toMatchObject({ v: 1, owner: { pid: process.pid } });
  expect(Object.hasOwn(stored, "isCut")).toBe(false);
});

test("long texts are cut in the inbox", async () => {
  await using at = await inbox();
  const change = Array.from({ length: 51 }, (_, number) => ({ member: `m${number}`, before: "b".repeat(2001) }));
  const entry = await writeEntry(at.path, { ...question, reason: "r".repeat(2001), change }, now);
  const read = await readEntry(at.path, entry);
  expect(read?.reason).toBe("r".repeat(2000));
  expect(read?.change).toEqual(change.slice(0, 50).map(({ member }) => ({ member, before: "b".repeat(2000) })));
});

test.each([
  [65_536, false],
  [65_537, true],
])("arguments are cut by their bytes, between two characters: %i bytes are cut: %s", async (bytes, isCut) => {
  await using at = await inbox();
  const room = bytes - JSON.stringify({ text: "" }).length;
  const args = { text: `${"x".repeat(room % 3)}${"あ".repeat(Math.floor(room / 3))}` };
  const entry = await writeEntry(at.path, { ...question, args }, now);
  const read = await readEntry(at.path, entry);
  expect(read?.isCut).toBe(isCut ? true : undefined);
  if (!isCut) return expect(read?.args).toEqual(args);
  const beginning = String(read?.args["(beginning)"]);
  expect(JSON.stringify(args).startsWith(beginning)).toBe(true);
  expect(65_536 - Buffer.byteLength(beginning)).toBeLessThan(3);
});

test.each([
  [65_526, false],
  [65_527, true],
])("arguments with a text of %i characters are cut: %s", async (length, isCut) => {
  await using at = await inbox();
  const args = { text: "x".repeat(length - 1) };
  const entry = await writeEntry(at.path, { ...question, args }, now);
  const read = await readEntry(at.path, entry);
  expect(read?.isCut).toBe(isCut ? true : undefined);
  expect(read?.args).toEqual(isCut ? { "(beginning)": JSON.stringify(args).slice(0, 65_536) } : args);
});

test.each(["client", "server", "name", "key", "digest", "kind"])(
  "a confirmation without %s is not shown",
  async (member) => {
    await using at = await inbox();
    const entry = await writeEntry(at.path, question, now);
    const { [member]: _, ...rest } = JSON.parse(await readFile(join(at.path, entry.file), "utf8"));
    await writeFile(join(at.path, entry.file), JSON.stringify(rest));
    expect(await readEntry(at.path, entry)).toBeUndefined();
  },
);

test("a confirmation of another version is read as far as it is understood", async () => {
  await using at = await inbox();
  const entry = await writeEntry(at.path, question, now);
  const { client, server, name, key, digest } = question;
  const written = {
    client,
    server,
    name,
    key,
    digest,
    kind: "sampling",
    args: 7,
    answers: ["always", "later", "no"],
    change: [1, {}],
    isCut: "yes",
  };
  await writeFile(join(at.path, entry.file), JSON.stringify(written));
  expect(await readEntry(at.path, entry)).toEqual({
    id: entry.id,
    since: now,
    deadline: now + 3_600_000,
    who: "client",
    client,
    server,
    kind: "sampling",
    name,
    args: {},
    reason: "",
    key,
    digest,
    isAwaited: false,
    isOwn: false,
    answers: ["no"],
    change: [{ member: "" }],
  });
});

test("files that are missing, empty, damaged or too large are not read", async () => {
  await using at = await inbox();
  const entry = await writeEntry(at.path, question, now);
  const file = join(at.path, entry.file);
  const read = async (text: string): Promise<unknown> => {
    await writeFile(file, text);
    return readInboxFile(file);
  };
  expect([await read(""), await read("[]"), await read("{")]).toEqual([undefined, undefined, undefined]);
  const largest = 16 * 65_536;
  expect(await read(`{"a":1}${" ".repeat(largest - 7)}`)).toEqual({ a: 1 });
  expect(await read(`{"a":1}${" ".repeat(largest - 6)}`)).toBeUndefined();
  await removeEntry(at.path, entry);
  await removeEntry(at.path, entry);
  expect([await readInboxFile(file), await readEntry(at.path, entry)]).toEqual([undefined, undefined]);
});

test("the inbox lists confirmations from the oldest to the newest, and ignores other files", async () => {
  await using at = await inbox();
  expect(await entryFiles(at.path)).toEqual([]);
  const keys = ["a", "b", "c"].map((letter) => ({ ...question, key: letter.repeat(64) }));
  const [second, third, first] = [
    await writeEntry(at.path, keys[0] ?? question, now + 2),
    await writeEntry(at.path, keys[1] ?? question, now + 3),
    await writeEntry(at.path, keys[2] ?? question, now + 1),
  ];
  await writeFile(join(at.path, "notes.txt"), "");
  expect(await entryFiles(at.path)).toEqual([first, second, third]);
});

test("an identical request takes over the late confirmation with its id; an open one stays beside it", async () => {
  await using at = await inbox();
  const first = await writeEntry(at.path, question, now);
  const beside = await writeEntry(at.path, question, now + 1);
  expect(beside.id).not.toBe(first.id);
  await makeLate(at.path, first);
  expect((await entryFiles(at.path)).map(({ id, state }) => [id, state])).toEqual([
    [first.id, "late"],
    [beside.id, "open"],
  ]);
  const again = await writeEntry(at.path, question, now + 2);
  expect(again).toEqual({ ...first, since: now + 2, file: again.file });
  expect(await entryFiles(at.path)).toEqual([beside, again]);
  await makeLate(at.path, first);
});

test("a confirmation can be answered for one hour; then the next one removes it, unless a request waits for it", async () => {
  await using at = await inbox();
  const [old, awaited] = [
    await writeEntry(at.path, { ...question, key: "a".repeat(64) }, now),
    await writeEntry(at.path, { ...question, key: "b".repeat(64) }, now),
  ];
  await makeLate(at.path, old);
  await writeEntry(at.path, { ...question, key: "c".repeat(64) }, now + questionTime);
  expect((await entryFiles(at.path)).map(({ id }) => id)).toContain(old.id);
  await writeEntry(at.path, { ...question, key: "d".repeat(64) }, now + questionTime + 1);
  const ids = (await entryFiles(at.path)).map(({ id }) => id);
  expect([ids.length, ids.includes(old.id), ids.includes(awaited.id)]).toEqual([3, false, true]);
  expect([questionTime, grantTime]).toEqual([3_600_000, 600_000]);
});

test("a full inbox says whose requests wait", async () => {
  await using at = await inbox();
  for (let count = 0; count < 32; count += 1)
    await writeEntry(at.path, { ...question, key: count.toString(16).padStart(64, "0") }, now);
  await expect(writeEntry(at.path, question, now)).rejects.toMatchObject({
    code: "denied",
    message: "Not run: files.write_file needs approval, but 32 requests of cursor are already waiting for approval",
    serverName: "files",
    next: "fairlead approvals list",
  });
  await writeEntry(at.path, { ...question, client: "other" }, now);
  expect(await entryFiles(at.path)).toHaveLength(33);
});

test("the first answer counts, and the request uses it once", async () => {
  await using at = await inbox();
  const entry = await writeEntry(at.path, question, now);
  expect(await isAnswered(at.path, entry)).toBe(false);
  const given = { answer: "once", by: "the page", at: now + 5 } as const;
  expect(await writeAnswer(at.path, entry, given)).toEqual({ ...given, isFirst: true, isAwaited: true });
  const second = await writeAnswer(at.path, entry, { ...given, answer: "no" });
  expect(second).toEqual({ ...given, isFirst: false, isAwaited: true });
  expect([await isAnswered(at.path, entry), await readAnswer(at.path, entry)]).toEqual([true, given]);
  expect(await useOfAnswer(at.path, entry.id, given)).toBeUndefined();
  expect(await useAnswer(at.path, entry, given)).toBe(true);
  expect(await useAnswer(at.path, entry, given)).toBe(false);
  expect(await entryFiles(at.path)).toEqual([]);
  expect([await doneAnswer(at.path, entry.id), await doneAnswer(at.path, "000")]).toEqual([given, undefined]);
  expect([await useOfAnswer(at.path, entry.id, given), await useOfAnswer(at.path, entry.id, { at: now })]).toEqual([
    "used",
    undefined,
  ]);
  expect(await isAnswered(at.path, entry)).toBe(true);
  const third = await writeAnswer(at.path, entry, { ...given, answer: "no" });
  expect(third).toEqual({ ...given, isFirst: false, isAwaited: false });
  expect((await readdir(at.path)).filter((name) => name.endsWith("answer.json"))).toEqual([]);
});

test("an answer to a changed definition is recorded as outdated; an answer without its confirmation is not stored", async () => {
  await using at = await inbox();
  const entry = await writeEntry(at.path, question, now);
  const given = { answer: "always", by: "b".repeat(101), at: now + 5 } as const;
  await writeAnswer(at.path, entry, given);
  expect(await useAnswer(at.path, entry, given, true)).toBe(true);
  expect(await useOfAnswer(at.path, entry.id, given)).toBe("outdated");
  expect(await doneAnswer(at.path, entry.id)).toEqual({ ...given, by: "b".repeat(100) });
  const gone = { id: "000", key: entry.key };
  expect(await writeAnswer(at.path, gone, given)).toBeUndefined();
  expect((await readdir(at.path)).filter((name) => name.startsWith("000"))).toEqual([]);
});

test.each([
  { answer: "yes", by: "x", at: 1 },
  { answer: "once", by: 1, at: 1 },
  { answer: "once", by: "x", at: "1" },
  { by: "x", at: 1 },
])("the damaged answer %j does not count", async (written) => {
  await using at = await inbox();
  const entry = await writeEntry(at.path, question, now);
  await writeFile(join(at.path, `${entry.id}.answer.json`), JSON.stringify({ ...written, key: entry.key }));
  expect(await readAnswer(at.path, entry)).toBeUndefined();
});

test("answers without a confirmation and old used answers are removed with the next confirmation", async () => {
  await using at = await inbox();
  const entry = await writeEntry(at.path, question, now);
  const used = (at: number): string => `AAA.${at.toString(36)}.done.json`;
  const names = ["BBB.answer.json", `${entry.id}.answer.json`, used(now - grantTime), used(now - grantTime - 1)];
  for (const name of names) await writeFile(join(at.path, name), "{}");
  const other = await writeEntry(at.path, { ...question, key: "a".repeat(64) }, now);
  const left = (await readdir(at.path)).filter((name) => !name.startsWith("number-")).toSorted();
  expect(left).toEqual([entry.file, other.file, `${entry.id}.answer.json`, used(now - grantTime)].toSorted());
});

test.each([
  [{ pid: 1, start: "12" }, true],
  [{ pid: 0x7fffffff, start: "" }, true],
  [{ pid: 0x80000000, start: "" }, false],
  [{ pid: 0, start: "" }, false],
  [{ pid: 1.5, start: "" }, false],
  [{ pid: "1", start: "" }, false],
  [{ pid: 1, start: "x" }, false],
  [{ pid: 1 }, false],
  [[1], false],
])("the process %j is accepted: %s", (value, isValid) => {
  expect(parseProcess(value)).toEqual(isValid ? value : undefined);
});

test.each(["tool", "resource", "prompt", "sampling"] as const)(
  "a confirmation of the kind %s is read back",
  async (kind) => {
    await using at = await inbox();
    const entry = await writeEntry(at.path, { ...question, kind }, now);
    expect(await readEntry(at.path, entry)).toEqual({
      ...question,
      kind,
      id: entry.id,
      since: now,
      deadline: now + 3_600_000,
      isAwaited: true,
      isOwn: true,
    });
  },
);

test.each(["no", "once", "conversation", "always"] as const)("the answer %s is read back", async (answer) => {
  await using at = await inbox();
  const entry = await writeEntry(at.path, question, now);
  const given = { answer, by: "here", at: now };
  await writeAnswer(at.path, entry, given);
  expect(await readAnswer(at.path, entry)).toEqual(given);
});

test("a full inbox drops the oldest late confirmation, and only as many as needed", async () => {
  await using at = await inbox();
  const entries: EntryFile[] = [];
  for (let count = 0; count < 32; count += 1) {
    const numbered = { ...question, key: count.toString(16).padStart(64, "0") };
    entries.push(await writeEntry(at.path, numbered, now + count));
  }
  const late = entries.filter((_, count) => count === 5 || count === 20);
  for (const entry of late) await makeLate(at.path, entry);
  const added = await writeEntry(at.path, question, now + 40);
  const expected = [...entries.filter((entry) => entry !== late[0]), added].map(({ id }) => id);
  expect((await entryFiles(at.path)).map(({ id }) => id)).toEqual(expected);
});
