/**
 * The log file of a server: stderr, messages and Fairlead's notes. The file's size is limited, and write errors are
 * ignored.
 */

import { createHash } from "node:crypto";
import { appendFileSync, closeSync, fstatSync, openSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { ensurePrivateFolder, privateFileMode } from "../files/atomic/private-folder.ts";
import { withoutColours } from "../text/model-text.ts";
import { toSafeLine } from "../text/safe-text.ts";

/** Source of a log line. */
export type LogKind = "stderr" | "wire" | "note";

export interface ServerLog {
  readonly path: string;
  /** Appends one or more lines. The caller must have hidden all secrets in them. Returns at once and never throws. */
  write(kind: LogKind, text: string): void;
  /** Resolves when no line waits to be written. The log stays usable. */
  close(): Promise<void>;
}

/** The log files of all servers; `of` returns the same log for the same name. */
export interface ServerLogs {
  of(serverName: string): ServerLog;
  close(): Promise<void>;
}

/**
 * When a log file has this size in bytes, Fairlead appends `.1` to its name and begins a new file. The old `.1` file
 * becomes `.2`, and the old `.2` file is deleted.
 */
const fileBytes = 1024 * 1024;
const lineCharacters = 16 * 1024;
/** Maximum number of characters that wait to be written. Lines above this limit are counted and dropped. */
const waitingCharacters = 1024 * 1024;
/**
 * Lines are collected for this many milliseconds before they are written. Servers that start meanwhile need not wait
 * for the disk.
 */
const flushDelay = 1000;

/** Creates the logs of all servers in the subfolder `logs` of the state folder. */
export function createServerLogs(state: string): ServerLogs {
  const logs = new Map<string, ServerLog>();
  let folder: Promise<void> | undefined;

  /** Checks the folder before the first write, and again after a failed write. */
  async function append(path: string, text: string): Promise<void> {
    try {
      folder ??= ensurePrivateFolder(join(state, "logs"));
      await folder;
      if (tryAppend(path, text)) return;
      await rotate(path);
      tryAppend(path, text);
    } catch {
      // A failed write (for example, the disk is full) must not stop the server.
      folder = undefined;
    }
  }

  return {
    of(serverName) {
      const log = logs.get(serverName) ?? createServerLog(logPath(state, serverName), append);
      logs.set(serverName, log);
      return log;
    },
    close: async () => void (await Promise.all([...logs.values()].map((log) => log.close()))),
  };
}

/** Path of a server's current log file, whether or not the file exists. */
export function logPath(state: string, serverName: string): string {
  return join(state, "logs", `${safeFileName(serverName)}.log`);
}

/**
 * A server's name as a file name. A name that had to be changed ends with a digest, so that two servers never share a
 * file, even if the file system ignores case.
 */
export function safeFileName(serverName: string): string {
  if (/^[a-z0-9_][a-z0-9_.-]{0,63}$/.test(serverName)) return serverName;
  const digest = createHash("sha256").update(serverName).digest("hex").slice(0, 8);
  return `${serverName.replaceAll(/[^\w-]/g, "_").slice(0, 48)}-${digest}`;
}

function createServerLog(path: string, append: (path: string, text: string) => Promise<void>): ServerLog {
  let waiting: string[] = [];
  let size = 0;
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  function write(kind: LogKind, text: string): void {
    const time = new Date().toISOString();
    for (const line of text.replace(/\r?\n$/, "").split("\n")) {
      const entry = `${time} ${kind} ${toLogLine(line)}\n`;
      if (size + entry.length > waitingCharacters) dropped += 1;
      else {
        waiting.push(entry);
        size += entry.length;
      }
    }
    timer ??= setTimeout(flush, flushDelay).unref();
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const missing =
      dropped === 0 ? "" : `${new Date().toISOString()} note ${dropped} lines dropped: the server wrote too fast\n`;
    const text = waiting.join("") + missing;
    [waiting, size, dropped] = [[], 0, 0];
    if (text !== "") writing = writing.then(() => append(path, text));
  }

  return {
    path,
    write,
    async close() {
      flush();
      await writing;
    },
  };
}

/**
 * Appends text to a log file. Returns false if the file is full. Writes synchronously, because asynchronous writes take
 * several times as much CPU time.
 */
function tryAppend(path: string, text: string): boolean {
  const file = openSync(path, "a", privateFileMode);
  try {
    if (fstatSync(file).size >= fileBytes) return false;
    appendFileSync(file, text);
    return true;
  } finally {
    closeSync(file);
  }
}

async function rotate(path: string): Promise<void> {
  await rename(`${path}.1`, `${path}.2`).catch(() => undefined);
  await rename(path, `${path}.1`);
}

/**
 * Removes colours and replaces control characters. Otherwise `cat` would send them to the user's terminal.
 */
function toLogLine(line: string): string {
  const plain = toSafeLine(withoutColours(line));
  return plain.length <= lineCharacters
    ? plain
    : `${plain.slice(0, lineCharacters)}… (${plain.length - lineCharacters} more characters)`;
}
