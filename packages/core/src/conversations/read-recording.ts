/** Reads a recording, which may be anything: every line is checked. An incomplete last line is left out. */

import { createHash } from "node:crypto";
import { join } from "node:path";
import { isObject } from "@fairlead/wire/json";
import { HostError } from "../errors.ts";
import { readBytes } from "../files/read-text.ts";
import { limits } from "../limits.ts";
import { parseHead, parseRecordedLine, type RecordedLine, type RecordingHead } from "./format.ts";
import { mediaFolder } from "./recording-file.ts";

/** A recording in memory. Media has its data again. */
export interface ConversationRecording {
  readonly head: RecordingHead;
  readonly lines: readonly RecordedLine[];
}

/**
 * Reads the recording in a file.
 *
 * @throws HostError `not_found` if there is no file, `usage` if it is not a recording
 */
export async function readConversation(path: string): Promise<ConversationRecording> {
  const file = await readBytes(path, limits.recordingBytes);
  if (file.kind === "absent") throw new HostError("not_found", `there is no file ${path}`);
  if (file.kind === "unreadable") throw notRecording(path, file.reason);
  const { head, lines } = parseRecording(path, toText(path, file.bytes));
  const data = await readMedia(mediaFolder(path), lines);
  return { head, lines: lines.map((line) => withData(line, data) as RecordedLine) };
}

function notRecording(path: string, reason: string): HostError {
  return new HostError("usage", `${path} cannot be read as a recording: ${reason}`);
}

/** Up to the last line break: a process that is killed may leave half a line, and half a character. */
function toText(path: string, bytes: Buffer): string {
  try {
    const whole = bytes.subarray(0, bytes.lastIndexOf("\n") + 1);
    return new TextDecoder("utf-8", { fatal: true }).decode(whole);
  } catch {
    throw notRecording(path, "it is not valid UTF-8 text");
  }
}

function parseRecording(path: string, text: string): ConversationRecording {
  const [first = "", ...rest] = text.split("\n").slice(0, -1);
  const head = parseHead(first);
  if (typeof head === "string") throw notRecording(path, head);
  const lines = rest.flatMap((line, at) => {
    const parsed = parseRecordedLine(line);
    if (parsed.kind === "invalid") throw notRecording(path, `line ${at + 2} is invalid: ${parsed.reason}`);
    return parsed.kind === "line" ? [parsed.line] : [];
  });
  return { head, lines };
}

const digestPattern = /^[0-9a-f]{64}$/;

/** Media that is missing or is not what the digest says is left out. */
async function readMedia(folder: string, lines: readonly RecordedLine[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  let left: number = limits.recordingBytes;
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

/** The value with the data of its media. Of missing media only the type is left. */
function withData(value: unknown, data: ReadonlyMap<string, string>): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withData(item, data));
  const digest = digestOf(value);
  if (digest !== undefined && isObject(value)) return { mimeType: value["mimeType"], data: data.get(digest) ?? "" };
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withData(member, data)]));
}
