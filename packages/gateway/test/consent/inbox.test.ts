import { spawn } from "node:child_process";
import { once } from "node:events";
import { renameSync } from "node:fs";
import { readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { systemClock } from "@fairlead/core/clock";
import { isProcessRunning, startTimeOf } from "@fairlead/core/files/running-process";
import { canMount, smallDisk, temporaryFolder, until } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { Inbox } from "../../src/consent/inbox.ts";
import { readAnswer, useAnswer } from "../../src/consent/inbox-answers.ts";
import {
  type EntryFile,
  entryFiles,
  inboxFolder,
  isAwaited,
  makeLate,
  readEntry,
  removeEntry,
  writeEntry,
} from "../../src/consent/inbox-folder.ts";
import { hasWatcher } from "../../src/consent/inbox-watchers.ts";
import { OpenQuestions } from "../../src/consent/open-questions.ts";
import { steppedClock } from "../support/stepped-clock.ts";

const question = {
  who: "client",
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
  const { id } = await writeEntry(folder, question, Date.now());
  const inbox = new Inbox(state.path);
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
  const entry = await writeEntry(folder, question, Date.now());
  const inbox = new Inbox(state.path);
  const another = { key: "1".repeat(64) };
  await expect(inbox.answer(entry.id, "once", "the terminal", another)).rejects.toMatchObject({ code: "not_found" });
  expect(await inbox.answer(entry.id, "once", "the terminal", question)).toMatchObject({ isFirst: true });
  expect(await readAnswer(folder, entry)).toMatchObject({ answer: "once" });
  expect(await readAnswer(folder, { id: entry.id, key: "1".repeat(32) })).toBeUndefined();
});

test("a damaged answer is no answer", async () => {
  await using state = await temporaryFolder();
  const folder = inboxFolder(state.path);
  const { id } = await writeEntry(folder, question, Date.now());
  await writeFile(join(folder, `${id}.answer.json`), '{"answer":"yes');
  expect((await new Inbox(state.path).list()).map((entry) => entry.id)).toEqual([id]);
});

test("no id of a withdrawn question is used again soon, and no two questions get one id", async () => {
  await using state = await temporaryFolder();
  const folder = inboxFolder(state.path);
  const ids = new Set<string>();
  for (let count = 0; count < 40; count += 1) {
    const entry = await writeEntry(folder, question, Date.now());
    ids.add(entry.id);
    await removeEntry(folder, entry);
  }
  const together = await Promise.all(
    Array.from({ length: 8 }, (_, at) => writeEntry(folder, { ...question, key: String(at).repeat(64) }, Date.now())),
  );
  for (const { id } of together) ids.add(id);
  expect(ids.size).toBe(48);
  expect((await readdir(folder)).filter((name) => name.startsWith("number-")).length).toBeLessThan(20);
});

/** Fills the inbox of one client, as another gateway would: this test's process is alive, and its ids are not passed on. */
async function fullInbox(folder: string): Promise<readonly EntryFile[]> {
  const entries: EntryFile[] = [];
  for (let at = 0; at < 32; at += 1) entries.push(await writeEntry(folder, numbered(at), Date.now() - 1000 + at));
  return entries;
}

function numbered(at: number) {
  return { ...question, key: at.toString(16).padStart(64, "0") };
}

/** Replaces the process that waits for a confirmation. Undefined: as the first versions wrote the file. */
async function setOwner(folder: string, { file }: EntryFile, owner: unknown): Promise<void> {
  const content = JSON.parse(await readFile(join(folder, file), "utf8")) as object;
  await writeFile(join(folder, file), JSON.stringify({ ...content, owner }));
}

test("a full inbox drops no question that another gateway waits for", async () => {
  await using state = await temporaryFolder();
  const folder = inboxFolder(state.path);
  const entries = await fullInbox(folder);
  await expect(writeEntry(folder, numbered(32), Date.now())).rejects.toMatchObject({ code: "denied" });
  expect((await entryFiles(folder)).map(({ id }) => id)).toEqual(entries.map(({ id }) => id));
  // The other gateway refuses one of its requests: that question makes room, although it is not the oldest.
  const [late] = entries.slice(20);
  if (late !== undefined) await makeLate(folder, late);
  const { id } = await writeEntry(folder, numbered(32), Date.now());
  const expected = [...entries.filter((entry) => entry !== late).map((entry) => entry.id), id];
  expect((await entryFiles(folder)).map((entry) => entry.id)).toEqual(expected);
});

test.each<[string, unknown]>([
  ["of a gateway that has ended", { pid: 0x7fffffff, start: "1" }],
  ["of an older version, which wrote no process", undefined],
  ["with a process group instead of a process", { pid: -1, start: "" }],
  ["with a process id that is too large", { pid: 2 ** 40, start: "" }],
  ["with a damaged start time", { pid: process.pid, start: "x".repeat(1000) }],
])("a full inbox drops the question %s, and it can be read until then", async (_, owner) => {
  await using state = await temporaryFolder();
  const folder = inboxFolder(state.path);
  const entries = await fullInbox(folder);
  const [left] = entries.slice(20);
  if (left === undefined) throw new Error("the inbox is not full");
  await setOwner(folder, left, owner);
  expect(await readEntry(folder, left)).toMatchObject({ id: left.id, name: "write_file" });
  await writeEntry(folder, numbered(32), Date.now());
  const ids = (await entryFiles(folder)).map(({ id }) => id);
  expect([ids.length, ids.includes(left.id)]).toEqual([32, false]);
});

test("the user sees open questions from the oldest to the newest, for one hour", async () => {
  await using state = await temporaryFolder();
  const folder = inboxFolder(state.path);
  let time = 1_700_000_000_000;
  const inbox = new Inbox(state.path, { now: () => time });
  const [first, second] = [
    await writeEntry(folder, numbered(1), time),
    await writeEntry(folder, numbered(2), time + 1),
  ];
  expect((await inbox.list()).map(({ id }) => id)).toEqual([first.id, second.id]);
  const since = time + 1;
  expect(await inbox.show(second.id.toLowerCase())).toEqual({
    ...numbered(2),
    id: second.id,
    since,
    deadline: since + 3_600_000,
    isAwaited: true,
    isOwn: true,
  });
  for (const entry of [first, second]) await makeLate(folder, entry);
  const missing = {
    code: "not_found",
    message: "approval 00000000000000000000 not found: it was answered before, or it expired",
    next: "fairlead approvals list",
  };
  await expect(inbox.show("0".repeat(30))).rejects.toMatchObject(missing);
  time += 3_600_000;
  expect((await inbox.list()).map(({ id }) => id)).toEqual([first.id, second.id]);
  time += 1;
  expect((await inbox.list()).map(({ id }) => id)).toEqual([second.id]);
  await expect(inbox.answer(first.id, "once", "here")).rejects.toMatchObject({ code: "not_found" });
  expect(await inbox.answer(second.id.toLowerCase(), "once", "here")).toEqual({
    answer: "once",
    by: "here",
    at: time,
    isFirst: true,
    isAwaited: false,
  });
});

test("the user reads what became of an answer: a later request uses it, or a request has used it", async () => {
  await using state = await temporaryFolder();
  const folder = inboxFolder(state.path);
  const inbox = new Inbox(state.path);
  const entry = await writeEntry(folder, question, Date.now());
  await makeLate(folder, entry);
  const given = await inbox.answer(entry.id, "once", "here");
  expect(given).toMatchObject({ isFirst: true, isAwaited: false });
  expect(await inbox.useOf(entry.id, given)).toBe("later");
  const [late = entry] = await entryFiles(folder);
  expect(await useAnswer(folder, late, given)).toBe(true);
  expect(await inbox.useOf(entry.id.toLowerCase(), given)).toBe("used");
  expect(await inbox.useOf(entry.id, { ...given, isAwaited: true })).toBe("used");
  expect(await inbox.answer(entry.id, "no", "there")).toEqual({ ...given, isFirst: false, isAwaited: false });
});

/** An inbox whose only entry has just been answered. No request has used the answer. */
async function answered(state: string) {
  const [folder, clock] = [inboxFolder(state), steppedClock()];
  const inbox = new Inbox(state, { clock });
  const entry = await writeEntry(folder, question, Date.now());
  return { folder, clock, inbox, entry, given: await inbox.answer(entry.id, "once", "here") };
}

test("the user is told that a later request uses the answer if no request has used it after three seconds", async () => {
  await using state = await temporaryFolder();
  const { folder, clock, inbox, entry, given } = await answered(state.path);
  const unused = inbox.useOf(entry.id, given);
  await clock.fire(3000);
  expect([await unused, clock.pending()]).toEqual(["later", 0]);
  expect(await useAnswer(folder, entry, given, true)).toBe(true);
  expect([await inbox.useOf(entry.id, given), clock.pending()]).toEqual(["outdated", 0]);
});

test("an answer that was used while this process did not run is reported as used", async () => {
  await using state = await temporaryFolder();
  const { folder, clock, inbox, entry, given } = await answered(state.path);
  const use = inbox.useOf(entry.id, given);
  await until(() => clock.pending() === 2);
  // No event of the file system arrives before the clock moves on.
  const used = join(folder, `${entry.id}.${given.at.toString(36)}.done.json`);
  renameSync(join(folder, `${entry.id}.answer.json`), used);
  await clock.fire(3000);
  expect([await use, clock.pending()]).toEqual(["used", 0]);
});

test("a process that shows the inbox is registered until it stops", async () => {
  await using state = await temporaryFolder();
  const folder = inboxFolder(state.path);
  const clock = steppedClock();
  expect(await hasWatcher(folder)).toBe(false);
  let calls = 0;
  const watching = await new Inbox(state.path, { clock }).watch(() => {
    calls += 1;
  });
  expect([await hasWatcher(folder), (await readdir(join(folder, "watchers"))).length]).toEqual([true, 1]);
  const before = calls;
  await clock.fire(1000);
  expect(calls).toBeGreaterThan(before);
  await watching[Symbol.asyncDispose]();
  expect([await hasWatcher(folder), await readdir(join(folder, "watchers")), clock.pending()]).toEqual([false, [], 0]);
});

test("files of processes that have ended are removed; other files stay", async () => {
  await using state = await temporaryFolder();
  const folder = inboxFolder(state.path);
  for (const name of ["2147483647-00000000", `${process.pid}-00000000`, "notes"])
    await state.write(`inbox/watchers/${name}`, "1");
  expect(await hasWatcher(folder)).toBe(false);
  expect(await readdir(join(folder, "watchers"))).toEqual(["notes"]);
});

test("identical requests at the same time have ids of their own: only one continues the late confirmation", async () => {
  await using state = await temporaryFolder();
  const folder = inboxFolder(state.path);
  const late = await writeEntry(folder, question, Date.now());
  await makeLate(folder, late);
  const now = Date.now();
  const ids = (await Promise.all([1, 2, 3].map(() => writeEntry(folder, question, now)))).map(({ id }) => id);
  expect(new Set(ids).size).toBe(3);
  expect(ids).toContain(late.id);
  expect((await new Inbox(state.path).list()).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
});

/** Uses the answer to a confirmation in the moment in which it is written, as a gateway on another core does. */
const usesAtOnce = `
const { readFileSync, renameSync, rmSync } = require("node:fs");
const { parentPort, workerData: { answer, done, entry } } = require("node:worker_threads");
parentPort.postMessage("ready");
for (;;) {
  try {
    const { at } = JSON.parse(readFileSync(answer, "utf8"));
    renameSync(answer, done.replace("AT", at.toString(36)));
    rmSync(entry);
    break;
  } catch {}
}`;

test("an answer that its request uses at once is not taken for an earlier one", async () => {
  await using state = await temporaryFolder();
  const folder = inboxFolder(state.path);
  const inbox = new Inbox(state.path);
  for (let round = 0; round < 10; round += 1) {
    const { id, file } = await writeEntry(folder, question, Date.now());
    const [answer, done, entry] = [`${id}.answer.json`, `${id}.AT.done.json`, file].map((name) => join(folder, name));
    const gateway = new Worker(usesAtOnce, { eval: true, workerData: { answer, done, entry } });
    await once(gateway, "message");
    const ended = once(gateway, "exit");
    expect(await inbox.answer(id, "once", "the terminal")).toMatchObject({ answer: "once", isFirst: true });
    await ended;
  }
});

test.runIf(process.platform === "linux")(
  "a gateway that was killed waits for no answer, also while its parent process has not noticed",
  async () => {
    await using state = await temporaryFolder();
    const folder = inboxFolder(state.path);
    const parent = spawn("sh", ["-c", "sleep 1000 & echo $!; exec sleep 1000"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [line] = (await once(parent.stdout, "data")) as [Buffer];
    const pid = Number(line.toString());
    const owner = { pid, start: startTimeOf(pid) };
    const entry = await writeEntry(folder, question, Date.now());
    const file = join(folder, entry.file);
    await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, "utf8")), owner }));
    await state.write(`inbox/watchers/${pid}-00000000`, owner.start);
    expect([await isAwaited(folder, entry), await hasWatcher(folder)]).toEqual([true, true]);
    process.kill(pid, "SIGKILL");
    await until(() => !isProcessRunning(pid));
    expect([await isAwaited(folder, entry), await hasWatcher(folder)]).toEqual([false, false]);
    const inbox = new Inbox(state.path);
    expect(await inbox.answer(entry.id, "conversation", "the terminal")).toMatchObject({ answer: "once" });
    const gateway = new OpenQuestions(state.path, systemClock, Date.now);
    expect(await gateway.takeLate(question)).toBe("once");
    const ended = once(parent, "exit");
    parent.kill("SIGKILL");
    await ended;
  },
);

test.runIf(canMount())(
  "an answer that a full disk did not take says why, and can be given when there is room",
  async () => {
    await using disk = await smallDisk();
    const folder = inboxFolder(disk.path);
    const { id } = await writeEntry(folder, question, Date.now());
    const inbox = new Inbox(disk.path);
    await disk.allowBlocks(0);
    await expect(inbox.answer(id, "once", "the terminal")).rejects.toMatchObject({
      code: "internal",
      message: `${folder} cannot be written: the disk is full; Fairlead did not change it`,
    });
    await disk.allowBlocks(100);
    expect((await inbox.list()).map((entry) => entry.id)).toEqual([id]);
    expect(await inbox.answer(id, "once", "the terminal")).toMatchObject({ answer: "once", isFirst: true });
  },
);
