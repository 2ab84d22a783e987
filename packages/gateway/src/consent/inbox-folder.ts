/**
 * The files of the inbox: confirmations of all gateways of a user, and their answers. File names begin with the id of
 * the confirmation.
 */

import { hash, randomInt } from "node:crypto";
import { readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecent } from "@fairlead/core/clock";
import { HostError } from "@fairlead/core/errors";
import {
  ensurePrivateFolder,
  explain,
  notRead,
  privateFileMode,
  replaceFile,
  systemCode,
  unless,
} from "@fairlead/core/files";
import { requestName } from "@fairlead/core/policy";
import { toSafeLine } from "@fairlead/core/text/safe-text";
import type { JsonObject } from "@fairlead/wire";
import { excerpt, isObject, listOf, objectOf, parseObject, stringOf } from "@fairlead/wire/json";
import { type ConsentAnswer, type ConsentQuestion, consentAnswers, lateAnswer } from "./confirmed-request.ts";
import { type InboxProcess, parseProcess, stillRuns, thisProcess } from "./inbox-watchers.ts";

/** A confirmation in the inbox, as a person sees it. The texts are not safe to print. */
export interface InboxEntry extends ConsentQuestion {
  /** A short id that a person can type. */
  readonly id: string;
  /** When the client asked, in milliseconds since 1970. */
  readonly since: number;
  /** Whether a running gateway still waits for the answer. If not, only `no` and `once` are offered. */
  readonly isAwaited: boolean;
  /** Whether this process waits for the answer. */
  readonly isOwn: boolean;
}

export interface GivenAnswer {
  readonly answer: ConsentAnswer;
  /** Where the person answered, such as `the page` or `fairlead approvals`. */
  readonly by: string;
  /** When the person answered, in milliseconds since 1970. */
  readonly at: number;
  /** Why the person said no. The client's model reads it. */
  readonly because?: string | undefined;
}

/**
 * What the file name of a confirmation says. `open`: a request waits for the answer. `late`: the gateway has already
 * refused the request.
 */
export interface EntryFile {
  readonly file: string;
  readonly id: string;
  readonly since: number;
  readonly key: string;
  readonly client: string;
  readonly state: "open" | "late";
}

/** Milliseconds for which an answer is valid. */
export const grantTime = 600_000;
/** Milliseconds for which a confirmation can be answered. */
export const questionTime = 3_600_000;
const mostOfClient = 32;
const mostEntries = 256;
const argumentBytes = 65_536;
const mostDifferences = 50;
const differenceText = 2000;
const requesters = ["client", "model", "user", "server"] as const;
const entryName = /^([0-9A-Z]{3,6})[.]([0-9a-z]{1,12})[.]([0-9a-f]{32})[.]([0-9a-f]{8})[.](open|late)[.]json$/;
/** Matches the file name of a used answer: id, time, and `outdated` if the answer had no effect. */
export const doneName: RegExp = /^([0-9A-Z]{3,6})[.]([0-9a-z]{1,12})(?:[.]outdated)?[.]done[.]json$/;
const answerName = /^([0-9A-Z]{3,6})[.]answer[.]json$/;

/** Returns the path of the inbox in the state folder. */
export function inboxFolder(stateFolder: string): string {
  return join(stateFolder, "inbox");
}

/** Returns the files of all confirmations, oldest first. */
export async function entryFiles(folder: string): Promise<readonly EntryFile[]> {
  return (await namesIn(folder)).flatMap(parseName).toSorted((one, other) => one.since - other.since);
}

/** Returns the names of all files in the inbox. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return [];
    throw notRead(folder, explain(error), error);
  });
}

function parseName(file: string): readonly EntryFile[] {
  const [, id, since, key, client, state] = entryName.exec(file) ?? [];
  if (id === undefined || since === undefined || key === undefined || client === undefined) return [];
  return [{ file, id, since: Number.parseInt(since, 36), key, client, state: state === "late" ? "late" : "open" }];
}

/** Returns the part of a confirmation's key that is used in file names. */
export function shortKey({ key }: Pick<ConsentQuestion, "key">): string {
  return key.slice(0, 32);
}

/** Whether a person can answer a confirmation: its request waits, or began less than an hour ago. */
export async function isAnswerable(folder: string, entry: EntryFile, now: number): Promise<boolean> {
  return isRecent(entry.since, questionTime, now) || (await isAwaited(folder, entry));
}

/** Reads a confirmation. Returns undefined if the file is missing or damaged. */
export async function readEntry(inbox: string, entry: EntryFile): Promise<InboxEntry | undefined> {
  const { file, id, since } = entry;
  const content = await readInboxFile(join(inbox, file));
  if (content === undefined) return undefined;
  const [client, server, name, key, digest] = ["client", "server", "name", "key", "digest"].map((member) =>
    stringOf(content[member]),
  );
  const kind = (["tool", "resource", "prompt", "sampling", "skill", "host"] as const).find(
    (each) => each === content["kind"],
  );
  if (client === undefined || server === undefined || name === undefined || kind === undefined) return undefined;
  if (key === undefined || digest === undefined) return undefined;
  const change = listOf(content["change"]).filter(isObject).map(toDifference);
  const hasWaiter = isOwned(entry, content);
  return {
    id,
    since,
    isAwaited: hasWaiter,
    isOwn: hasWaiter && parseProcess(content["owner"])?.pid === process.pid,
    who: requesters.find((each) => each === content["who"]) ?? "client",
    client,
    server,
    kind,
    name,
    args: objectOf(content["args"]),
    isCut: content["isCut"] === true ? true : undefined,
    hints: stringOf(content["hints"]),
    flags: stringOf(content["flags"]),
    sandbox: stringOf(content["sandbox"]),
    reason: stringOf(content["reason"]) ?? "",
    key,
    digest,
    answers: consentAnswers.filter(
      (each) => listOf(content["answers"]).includes(each) && (hasWaiter || lateAnswer(each) === each),
    ),
    change: change.length > 0 ? change : undefined,
    folder: stringOf(content["folder"]),
    deadline: since + questionTime,
  };
}

function toDifference({ member, before, after }: JsonObject) {
  const text = (value: unknown): string | undefined => stringOf(value)?.slice(0, differenceText);
  return { member: text(member) ?? "", before: text(before), after: text(after) };
}

/**
 * Stores a confirmation. If an identical request was refused before, replaces its confirmation and keeps the id.
 * @throws HostError `denied` if the inbox is full
 */
export async function writeEntry(folder: string, question: ConsentQuestion, now: number): Promise<EntryFile> {
  await ensurePrivateFolder(folder);
  await makeRoom(folder, question, now);
  const owner = thisProcess();
  const key = shortKey(question);
  const client = clientDigest(question);
  const entryOf = (id: string): EntryFile => {
    const made: EntryFile = { file: "", id, since: now, key, client, state: "open" };
    return { ...made, file: fileOf(made) };
  };
  const entry = (await takeOver(folder, key, entryOf)) ?? entryOf(await createFreeId(folder));
  await replaceFile(join(folder, entry.file), {
    text: contentOf(question, owner),
    mode: privateFileMode,
    previous: undefined,
    isCurrent: async () => true,
  });
  return entry;
}

/**
 * Takes over the late confirmation of an identical request. Of several requests at the same time, only one gets it: the
 * others need ids of their own, so that a person can answer each.
 */
async function takeOver(
  folder: string,
  key: string,
  entryOf: (id: string) => EntryFile,
): Promise<EntryFile | undefined> {
  for (const late of await entryFiles(folder)) {
    if (late.key !== key || late.state !== "late") continue;
    const entry = entryOf(late.id);
    const isTaken = await rename(join(folder, late.file), join(folder, entry.file)).then(() => true, unless("ENOENT"));
    if (isTaken) return entry;
  }
  return undefined;
}

async function createFreeId(folder: string): Promise<string> {
  for (;;) {
    const names = await namesIn(folder);
    const id = await createConfirmationId(folder, names);
    if (!names.some((name) => name.startsWith(`${id}.`))) return id;
  }
}

/** `owner`: the gateway's process, which waits for the answer while the confirmation is open. */
function contentOf(question: ConsentQuestion, owner: InboxProcess): string {
  const { who, client, folder, server, kind, name, args, hints, flags, sandbox, reason, change, answers, key, digest } =
    question;
  const written = Buffer.from(excerpt(args, argumentBytes + 1));
  const isCut = written.length > argumentBytes;
  return JSON.stringify({
    v: 1,
    who: who === "client" ? undefined : who,
    client,
    folder,
    server,
    kind,
    name,
    args: isCut ? { "(beginning)": textOf(written.subarray(0, argumentBytes)) } : args,
    isCut: isCut ? true : undefined,
    hints: hints?.slice(0, differenceText),
    flags: flags?.slice(0, differenceText),
    sandbox: sandbox?.slice(0, differenceText),
    reason: reason.slice(0, differenceText),
    change: change?.slice(0, mostDifferences).map((each) => toDifference({ ...each })),
    answers,
    key,
    digest,
    owner,
  });
}

/** Decodes bytes without the last character if it is incomplete. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes, { stream: true });
}

function fileOf({ id, since, key, client, state }: EntryFile): string {
  return `${id}.${Math.trunc(since).toString(36)}.${key}.${client}.${state}.json`;
}

function clientDigest({ client }: Pick<ConsentQuestion, "client">): string {
  return hash("sha256", client).slice(0, 8);
}

/** Marks a confirmation as late: the next identical request uses its answer. */
export async function makeLate(folder: string, entry: EntryFile): Promise<void> {
  await rename(join(folder, entry.file), join(folder, fileOf({ ...entry, state: "late" }))).catch(unless("ENOENT"));
}

/** Removes the file of a confirmation. Does nothing if it no longer exists. */
export async function removeEntry(folder: string, { file }: EntryFile): Promise<void> {
  await rm(join(folder, file), { force: true });
}

/** Reads a JSON file. Returns undefined if it is missing, damaged or too large. */
export async function readInboxFile(file: string): Promise<JsonObject | undefined> {
  const size = (await stat(file).catch(unless("ENOENT")))?.size ?? 0;
  if (size === 0 || size > 16 * argumentBytes) return undefined;
  const text = await readFile(file, "utf8").catch(unless("ENOENT"));
  return text === undefined ? undefined : parseObject(text);
}

/**
 * Removes expired confirmations. If there are still too many, removes the oldest ones, except those for which a request
 * of a running gateway waits.
 * @throws HostError `denied` if too many requests wait
 */
async function makeRoom(folder: string, question: ConsentQuestion, now: number): Promise<void> {
  const kept: EntryFile[] = [];
  for (const entry of await entryFiles(folder))
    if (!(await isAnswerable(folder, entry, now))) await removeEntry(folder, entry);
    // The new confirmation replaces a late one of an identical request.
    else if (entry.key !== shortKey(question) || entry.state === "open") kept.push(entry);
  const client = clientDigest(question);
  const most = [
    { entries: kept.filter((each) => each.client === client), limit: mostOfClient },
    { entries: kept, limit: mostEntries },
  ];
  for (const { entries, limit } of most) {
    const surplus = entries.length - limit + 1;
    if (surplus <= 0) continue;
    const removable: EntryFile[] = [];
    for (const entry of entries)
      if (removable.length < surplus && !(await isAwaited(folder, entry))) removable.push(entry);
    if (removable.length < surplus) throw tooMany(question, limit);
    for (const entry of removable) await removeEntry(folder, entry);
  }
  await removeOrphans(folder, now);
}

/** Whether the gateway that wrote the confirmation still runs and waits for the answer. */
export async function isAwaited(folder: string, entry: EntryFile): Promise<boolean> {
  return entry.state === "open" && isOwned(entry, (await readInboxFile(join(folder, entry.file))) ?? {});
}

function isOwned({ state }: EntryFile, content: JsonObject): boolean {
  // Older versions wrote no `owner`.
  const owner = parseProcess(content["owner"]);
  return state === "open" && owner !== undefined && stillRuns(owner);
}

function tooMany(question: ConsentQuestion, limit: number): HostError {
  const whose = limit === mostOfClient ? `${limit} requests of ${toSafeLine(question.client)}` : `${limit} requests`;
  const message = `Not run: ${requestName(question)} needs approval, but ${whose} are already waiting for approval`;
  return new HostError("denied", message, { serverName: question.server, next: "fairlead approvals list" });
}

/** Removes answers without a confirmation, and old used answers. */
async function removeOrphans(folder: string, now: number): Promise<void> {
  const names = await namesIn(folder);
  const ids = new Set(names.flatMap(parseName).map(({ id }) => id));
  for (const name of names) {
    const [, orphan] = answerName.exec(name) ?? [];
    const [, , at] = doneName.exec(name) ?? [];
    const isOld = at !== undefined && !isRecent(Number.parseInt(at, 36), grantTime, now);
    if (isOld || (orphan !== undefined && !ids.has(orphan))) await rm(join(folder, name), { force: true });
  }
}

/** The characters of an id. Letters and digits that look alike are left out. */
const alphabet = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
const idLength = 3;
const idCount = alphabet.length ** idLength;
/**
 * The distance between two consecutive ids. They differ in several characters, so a typing error does not hit the next
 * confirmation. The number must be odd to reach every id.
 */
const step = 20_077;
/** An empty file with such a name reserves a number. The highest number belongs to the latest id. */
const numberName = /^number-(\d{1,15})$/;
/**
 * Number of these files that are kept. Another process may have read the folder earlier and must not take the same
 * number.
 */
const keptNumbers = 4;

/**
 * Returns a new id. Other processes that call this function at the same time get other ids.
 * @param names The names of the files in the inbox.
 */
export async function createConfirmationId(folder: string, names: readonly string[]): Promise<string> {
  const numbers = names.flatMap((name) => numberName.exec(name)?.[1] ?? []).map(Number);
  let number = numbers.length === 0 ? randomInt(idCount) : Math.max(...numbers) + 1;
  while (!(await take(join(folder, `number-${number}`)))) number += 1;
  for (const old of numbers) if (old <= number - keptNumbers) await rm(join(folder, `number-${old}`), { force: true });
  return idOf(number);
}

async function take(file: string): Promise<boolean> {
  return writeFile(file, "", { flag: "wx", mode: privateFileMode }).then(
    () => true,
    (error: unknown) => {
      if (systemCode(error) === "EEXIST") return false;
      throw error;
    },
  );
}

function idOf(number: number): string {
  let rest = ((number % idCount) * step) % idCount;
  let id = "";
  for (let at = 0; at < idLength; at += 1) {
    id += alphabet[rest % alphabet.length];
    rest = Math.trunc(rest / alphabet.length);
  }
  return id;
}
