/**
 * Writes recordings, one file for each server. Messages are written as they arrive, so a killed program loses only the
 * last ones.
 */

import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { appendFile, open, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { JsonObject } from "@fairlead/wire";
import { type Clock, systemClock } from "../clock.ts";
import type { Direction, MessageWriter } from "../connect/redact-message.ts";
import { safeFileName } from "../connect/server-log.ts";
import { HostError } from "../errors.ts";
import { makeFolder, privateFileMode } from "../files/atomic/private-folder.ts";
import { toWriteError, unless } from "../files/system-error.ts";
import { headerLine, isRecording } from "./recording.ts";

/** Where to write the recordings. */
export type RecordTo =
  /** A folder with one file for each server. New messages are appended to an existing recording. */
  | { readonly folder: string }
  /** A single file. An existing recording in this file is replaced. */
  | { readonly file: string };

/** Records all connections of a host. */
export interface Recorder {
  /**
   * Starts recording a connection and returns the function that receives its messages.
   *
   * @throws HostError `usage` if the file exists and is not a recording
   */
  connection(server: string, write: MessageWriter): Promise<(direction: Direction, message: JsonObject) => void>;
  /** For each server: the number of recorded messages, and the file that contains them. */
  written(): readonly { readonly server: string; readonly file: string; readonly messages: number }[];
  /**
   * Resolves when all messages are on disk.
   *
   * @throws HostError if a recording could not be written
   */
  close(): Promise<void>;
}

/** The clocks of a recorder. Default: the system's clocks. */
export interface RecorderOptions {
  readonly clock?: Clock;
  /** The wall clock, in milliseconds since 1970. */
  readonly now?: () => number;
}

/** Fairlead reads this many bytes of an existing file to find its first line. */
const headerBytes = 4096;

/**
 * Creates a recorder, for the `record` option of a host. The files contain no secret of the servers' settings.
 *
 * @example
 * ```ts
 * import { createHost, createRecorder } from "@fairlead/core";
 *
 * const record = createRecorder({ folder: "recordings" });
 * const host = await createHost({ record });
 * ```
 */
export function createRecorder(to: RecordTo, options: RecorderOptions = {}): Recorder {
  const { clock = systemClock, now = Date.now } = options;
  const files = new Map<string, RecordingFile>();
  const begun = new Map<string, Promise<void>>();

  async function begin(server: string, file: string): Promise<void> {
    await makeFolder(dirname(file));
    const start = await startOf(file);
    if (start === "other") throw notOurs(file);
    if (start === "recording" && "folder" in to) return;
    const header = headerLine(server, new Date(now()).toISOString());
    await writeFile(file, header, { mode: privateFileMode }).catch((error: unknown) => {
      throw toWriteError(file, error);
    });
  }

  return {
    async connection(server, write) {
      const path = "file" in to ? to.file : join(to.folder, `${safeFileName(server)}.jsonl`);
      const begins = begun.get(path) ?? begin(server, path);
      begun.set(path, begins);
      await begins;
      const file = files.get(path) ?? createRecordingFile(server, path);
      files.set(path, file);
      const c = randomBytes(4).toString("hex");
      const opened = clock.now();
      return (direction, message) => {
        const at = Math.round(clock.now() - opened);
        const from = direction === "sent" ? "client" : "server";
        file.append(`{"c":"${c}","at":${at},"from":"${from}","message":${write(direction, message)}}\n`);
      };
    },
    written: () =>
      [...files.values()].map((each) => ({ server: each.server, file: each.file, messages: each.count() })),
    async close() {
      for (const file of files.values()) await file.close();
    },
  };
}

/** What the first line of an existing file shows about its content. */
async function startOf(file: string): Promise<"empty" | "recording" | "other"> {
  // Without O_NONBLOCK, `open` would wait for ever if the file is a named pipe without a writer.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch(unless("ENOENT"));
  if (handle === undefined) return "empty";
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(headerBytes), 0, headerBytes, 0);
    if (bytesRead === 0) return "empty";
    return isRecording(buffer.toString("utf8", 0, bytesRead)) ? "recording" : "other";
  } finally {
    await handle.close();
  }
}

function notOurs(file: string): HostError {
  return new HostError("usage", `${file} exists and is not a recording, so Fairlead does not replace it`, {
    next: "Choose another file, or delete this one.",
  });
}

interface RecordingFile {
  readonly server: string;
  readonly file: string;
  append(line: string): void;
  count(): number;
  close(): Promise<void>;
}

/** Appends lines in the order in which they arrive. Lines that wait are written together. */
function createRecordingFile(server: string, file: string): RecordingFile {
  let waiting = "";
  let messages = 0;
  let failure: unknown;
  let writing: Promise<void> | undefined;

  async function write(): Promise<void> {
    while (waiting !== "" && failure === undefined) {
      const text = waiting;
      waiting = "";
      await appendFile(file, text, { mode: privateFileMode }).catch((error: unknown) => {
        failure = error;
      });
    }
    writing = undefined;
  }

  return {
    server,
    file,
    append(line) {
      messages += 1;
      // Writes nothing more after a failure, because the recording would have a gap.
      if (failure === undefined) waiting += line;
      writing ??= write();
    },
    count: () => messages,
    async close() {
      await writing;
      if (failure !== undefined) throw toWriteError(file, failure);
    },
  };
}
