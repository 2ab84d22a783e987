/**
 * The file format of recordings: one line for each message between a client and a server. Pure, except for reading the
 * file.
 */

import type { JsonObject } from "@fairlead/wire";
import { isObject, parseObject } from "@fairlead/wire/json";
import { HostError } from "../errors.ts";
import { readText } from "../files/read-text.ts";
import { notRead } from "../files/system-error.ts";

/** The first line of a recording. */
export interface RecordingHeader {
  readonly v: 1;
  readonly kind: "fairlead.recording";
  /** The server's name in the settings. */
  readonly server: string;
  /** The time when recording began, in ISO 8601 format. */
  readonly recordedAt: string;
}

export interface RecordedMessage {
  /** Identifies the connection. One file may contain messages of several connections. */
  readonly c: string;
  /** Milliseconds since the connection was opened. */
  readonly at: number;
  readonly from: "client" | "server";
  readonly message: JsonObject;
}

export interface Recording {
  readonly header: RecordingHeader;
  readonly messages: readonly RecordedMessage[];
}

const version = 1;
const largestFile = 256 * 1024 * 1024;

export function headerLine(server: string, recordedAt: string): string {
  return `${JSON.stringify({ v: version, kind: "fairlead.recording", server, recordedAt })}\n`;
}

/** Whether a text begins with the first line of a recording. */
export function isRecording(text: string): boolean {
  return parseObject(text.slice(0, text.indexOf("\n")))?.["kind"] === "fairlead.recording";
}

/**
 * Reads a recording from a file.
 *
 * @throws HostError `not_found`, or `settings_invalid` if the file is not a recording
 */
export async function readRecording(file: string): Promise<Recording> {
  const found = await readText(file, largestFile);
  switch (found.kind) {
    case "absent":
      throw new HostError("not_found", `no recording ${file}: the file does not exist`, {
        next: `fairlead record SERVER -o ${file}`,
      });
    case "unreadable":
      throw notRead(file, found.reason, found.cause);
    case "text":
      return parseRecording(found.text, file);
  }
}

/** Parses a recording. Skips an incomplete last line, which a killed recorder may leave. */
export function parseRecording(text: string, file: string): Recording {
  const [first = "", ...lines] = text.split("\n");
  const header = parseObject(first);
  if (header?.["kind"] !== "fairlead.recording")
    throw unusable(file, "the first line is not the header of a recording");
  if (header["v"] !== version) {
    const found = `the file has format version ${String(header["v"])}`;
    throw unusable(file, `${found}, but this version of Fairlead reads version ${version}`);
  }
  lines.pop();
  const messages = lines.flatMap((line, at) => {
    const value = parseObject(line);
    // Skips a second header, for example in a file of two joined recordings.
    if (value?.["kind"] === "fairlead.recording") return [];
    if (value === undefined || !isRecordedMessage(value)) throw unusable(file, `line ${at + 2} is not a message`);
    return value;
  });
  return { header: header as unknown as RecordingHeader, messages };
}

function isRecordedMessage(value: object): value is RecordedMessage {
  const { c, at, from, message } = value as Partial<RecordedMessage>;
  return (
    typeof c === "string" && typeof at === "number" && (from === "client" || from === "server") && isObject(message)
  );
}

function unusable(file: string, why: string): HostError {
  return new HostError("settings_invalid", `${file} is not a usable recording: ${why}`, {
    next: `fairlead record SERVER -o ${file}`,
  });
}
