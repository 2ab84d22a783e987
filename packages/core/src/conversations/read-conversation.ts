/**
 * Reads the file of a conversation. Checks every line, because users and other programs can edit the file. Ignores an
 * incomplete last line.
 */

import { createHash } from "node:crypto";
import { join } from "node:path";
import { isObject } from "@fairlead/wire/json";
import { HostError } from "../errors.ts";
import { readBytes } from "../files/read-text.ts";
import { limits } from "../limits.ts";
import { mediaFolder } from "./conversation-file.ts";
import { type ConversationHead, parseHead, parseRecordedLine, type RecordedLine } from "./format.ts";

/** A recorded conversation in memory, with the data of its media. */
export interface RecordedConversation {
  readonly head: ConversationHead;
  readonly lines: readonly RecordedLine[];
}

/**
 * Reads a recorded conversation from its file.
 *
 * @throws HostError `not_found` if there is no file, `usage` if it is not a recorded conversation
 */
export async function readConversation(path: string): Promise<RecordedConversation> {
  const file = await readBytes(path, limits.conversationBytes);
  if (file.kind === "absent") throw new HostError("not_found", `there is no file ${path}`);
  if (file.kind === "unreadable") throw notReadable(path, file.reason);
  const { head, lines } = parseConversation(path, toText(path, file.bytes));
  const data = await readMedia(mediaFolder(path), lines);
  return { head, lines: lines.map((line) => withData(line, data) as RecordedLine) };
}

function notReadable(path: string, reason: string): HostError {
  return new HostError("usage", `${path} cannot be read as a recorded conversation: ${reason}`);
}

/** The text up to the last line break. A killed process may have left an incomplete line after it. */
function toText(path: string, bytes: Buffer): string {
  try {
    const whole = bytes.subarray(0, bytes.lastIndexOf("\n") + 1);
    return new TextDecoder("utf-8", { fatal: true }).decode(whole);
  } catch {
    throw notReadable(path, "the file is not valid UTF-8 text");
  }
}

function parseConversation(path: string, text: string): RecordedConversation {
  const [first = "", ...rest] = text.split("\n").slice(0, -1);
  const head = parseHead(first);
  if (typeof head === "string") throw notReadable(path, head);
  const lines = rest.flatMap((line, at) => {
    const parsed = parseRecordedLine(line);
    if (parsed.kind === "invalid") throw notReadable(path, `line ${at + 2} is invalid: ${parsed.reason}`);
    return parsed.kind === "line" ? [parsed.line] : [];
  });
  return { head, lines };
}

const digestPattern = /^[0-9a-f]{64}$/;

/** Reads the media to which the lines refer. Leaves out media that is missing or does not match its digest. */
async function readMedia(folder: string, lines: readonly RecordedLine[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  let left: number = limits.conversationBytes;
  for (const digest of digestsIn(lines)) {
    const file = await readBytes(join(folder, digest), left);
    if (file.kind !== "bytes" || createHash("sha256").update(file.bytes).digest("hex") !== digest) continue;
    left -= file.bytes.length;
    found.set(digest, file.bytes.toString("base64"));
  }
  return found;
}

function digestsIn(value: unknown, found: Set<string> = new Set()): ReadonlySet<string> {
  if (typeof value !== "object" || value === null) return found;
  const digest = digestOf(value);
  if (digest !== undefined) found.add(digest);
  else for (const member of Object.values(value)) digestsIn(member, found);
  return found;
}

function digestOf(value: object): string | undefined {
  if (!isObject(value) || Object.keys(value).length !== 2 || typeof value["mimeType"] !== "string") return undefined;
  const { digest } = value;
  return typeof digest === "string" && digestPattern.test(digest) ? digest : undefined;
}

/** Replaces each media digest in the value by the media's data. If the data is missing, `data` is an empty text. */
function withData(value: unknown, data: ReadonlyMap<string, string>): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withData(item, data));
  const digest = digestOf(value);
  if (digest !== undefined && isObject(value)) return { mimeType: value["mimeType"], data: data.get(digest) ?? "" };
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withData(member, data)]));
}
