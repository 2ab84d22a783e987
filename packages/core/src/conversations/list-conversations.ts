/** Lists the recorded conversations, and finds one of them. */

import { lstat, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { isObject, parseJson } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import { HostError } from "../errors.ts";
import { tryLock } from "../files/atomic/lock.ts";
import { unless } from "../files/system-error.ts";
import { conversationPath, mediaFolder, unknownConversation } from "./conversation-file.ts";
import { type ConversationHead, isConversationId, parseHead } from "./format.ts";

/** Information about a recorded conversation. The texts are not escaped. */
export interface ConversationInfo {
  readonly id: string;
  /** The name that the user gave the conversation, if any. */
  readonly title?: string;
  /** The beginning of the first message. */
  readonly firstWords: string;
  /** `startedAt` is the time in the first line; `updatedAt` is when the file was last changed. Both are in ISO 8601. */
  readonly startedAt: string;
  readonly updatedAt: string;
  /** The root of the workspace in which the conversation was last used. */
  readonly workspace: string;
  readonly model: ConversationHead["model"];
  /** `turns` is the number of the user's messages, and `calls` the number of tool calls. */
  readonly turns: number;
  readonly calls: number;
  readonly bytes: number;
}

/** The options of `host.conversations`. */
export interface ConversationSearch {
  /** The number of newest conversations to return. Default: all. */
  readonly limit?: number;
  /** If present, only conversations of this workspace are returned. */
  readonly workspace?: string;
}

interface Dated {
  readonly id: string;
  readonly bytes: number;
  readonly updated: number;
}

/** Returns the conversations, latest first. Skips files that are not conversations. */
export async function listConversations(
  folder: string,
  { limit = Number.POSITIVE_INFINITY, workspace }: ConversationSearch = {},
): Promise<readonly ConversationInfo[]> {
  const found: ConversationInfo[] = [];
  for (const dated of await conversationsIn(folder)) {
    if (found.length >= limit) break;
    const info = await readInfo(folder, dated);
    if (info !== undefined && (workspace === undefined || info.workspace === workspace)) found.push(info);
  }
  return found;
}

/** The files of conversations, latest first. */
export async function conversationsIn(folder: string): Promise<readonly Dated[]> {
  const names = (await readdir(folder).catch(unless("ENOENT", "ENOTDIR"))) ?? [];
  const ids = names.flatMap((name) => (name.endsWith(".jsonl") ? name.slice(0, -".jsonl".length) : []));
  const dated = await Promise.all(
    ids.filter(isConversationId).map(async (id) => {
      const stats = await stat(conversationPath(folder, id)).catch(unless("ENOENT"));
      return stats?.isFile() === true ? [{ id, bytes: stats.size, updated: stats.mtimeMs }] : [];
    }),
  );
  return dated.flat().sort((a, b) => b.updated - a.updated || b.id.localeCompare(a.id));
}

/**
 * Finds one conversation. `wanted` is an id, or the beginning of exactly one id.
 *
 * @throws HostError `not_found`
 */
export async function findConversation(folder: string, wanted: string): Promise<ConversationInfo> {
  const all = await conversationsIn(folder);
  const same = all.filter(({ id }) => id === wanted);
  const [found, ...others] = same.length > 0 ? same : all.filter(({ id }) => wanted !== "" && id.startsWith(wanted));
  if (others.length > 0)
    throw new HostError("not_found", `the ids of ${others.length + 1} conversations begin with "${wanted}"`, {
      next: "fairlead conversations",
    });
  const info = found && (await readInfo(folder, found));
  if (info === undefined) throw unknownConversation(wanted);
  return info;
}

const longestWords = 200;
/** Matches the beginning of a line. Only lines of a type that the list shows are parsed completely. */
const lineStart = /^\{"time":"[^"]{1,40}","type":"(\w+)"/;

async function readInfo(folder: string, dated: Dated): Promise<ConversationInfo | undefined> {
  const handle = await open(conversationPath(folder, dated.id)).catch(unless("ENOENT", "EACCES"));
  try {
    return handle && (await infoOf(handle.readLines(), dated));
  } finally {
    await handle?.close();
  }
}

async function infoOf(
  lines: AsyncIterable<string>,
  { id, bytes, updated }: Dated,
): Promise<ConversationInfo | undefined> {
  let head: ConversationHead | undefined;
  let firstWords: string | undefined;
  let title: string | undefined;
  let workspace = "";
  let model: ConversationHead["model"] | undefined;
  let turns = 0;
  let calls = 0;
  for await (const line of lines) {
    if (head === undefined) {
      const parsed = parseHead(line);
      if (typeof parsed === "string" || parsed.id !== id) return undefined;
      head = parsed;
      ({ workspace, model } = parsed);
      continue;
    }
    const type = lineStart.exec(line.slice(0, 100))?.[1];
    if (type === "input") turns += 1;
    if (type === "response") calls += 1;
    if (!(type === "title" || type === "model" || type === "resumed" || (type === "input" && firstWords === undefined)))
      continue;
    const value = parseJson(line);
    if (!isObject(value)) continue;
    if (type === "input") firstWords = clip(textOf(value["text"]), longestWords);
    if (type === "title") title = clip(textOf(value["title"]), longestWords);
    if (type === "resumed") workspace = textOf(value["workspace"]);
    if (type === "model") model = { provider: textOf(value["provider"]), name: textOf(value["name"]) };
  }
  if (head === undefined || model === undefined) return undefined;
  return {
    id,
    title,
    firstWords: firstWords ?? "",
    startedAt: head.time,
    updatedAt: new Date(updated).toISOString(),
    workspace,
    model,
    turns,
    calls,
    bytes,
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** How many conversations, and how many bytes, stay on disk. */
interface ConversationLimits {
  readonly conversations: number;
  /** Maximum bytes of all conversations together, including their media. */
  readonly bytes: number;
}

const defaultLimits: ConversationLimits = { conversations: 1_000, bytes: 2_000_000_000 };

/** Removes a recorded conversation and its media. Returns false if a process has the conversation open. */
export async function removeConversation(folder: string, id: string): Promise<boolean> {
  const path = conversationPath(folder, id);
  const lock = await tryLock(path);
  if (lock === undefined) return false;
  try {
    await rm(path, { force: true });
    await rm(mediaFolder(path), { recursive: true, force: true });
    return true;
  } finally {
    await lock.release();
  }
}

/** Removes the oldest conversations until the rest is within the limits. Never removes the newest conversation. */
export async function rotateConversations(folder: string, limits: ConversationLimits = defaultLimits): Promise<void> {
  let count = 0;
  let bytes = 0;
  for (const recorded of await conversationsIn(folder)) {
    count += 1;
    bytes += recorded.bytes + (await bytesIn(mediaFolder(conversationPath(folder, recorded.id))));
    if (count > 1 && (count > limits.conversations || bytes > limits.bytes))
      await removeConversation(folder, recorded.id);
  }
}

async function bytesIn(folder: string): Promise<number> {
  const names = (await readdir(folder).catch(unless("ENOENT", "ENOTDIR"))) ?? [];
  const sizes = await Promise.all(
    names.map(async (name) => (await lstat(join(folder, name)).catch(unless("ENOENT")))?.size ?? 0),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
