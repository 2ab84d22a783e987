/** A server's log file: what it wrote to stderr, what crossed the wire, what we noted. Bounded, and never a reason to fail. */

import { createHash } from "node:crypto";
import { appendFile, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { ensurePrivateFolder, privateFileMode } from "../files/atomic/private-folder.ts";
import { withoutColours } from "../text/colours.ts";
import { toSafeLine } from "../text/safe-text.ts";

export type LogKind = "stderr" | "wire" | "note";

export interface ServerLog {
  readonly path: string;
  /** One line, or several; without secrets already. Returns at once and never throws. */
  write(kind: LogKind, text: string): void;
  /** Resolves when everything written so far is in the file, or cannot be. Writing may go on. */
  close(): Promise<void>;
}

/** The logs of one host. */
export interface ServerLogs {
  of(serverName: string): ServerLog;
  close(): Promise<void>;
}

/** A file over this size becomes `.1`, what was `.1` becomes `.2`, what was `.2` is gone. */
const fileBytes = 1024 * 1024;
const lineCharacters = 16 * 1024;
/** What may wait to be written; more is counted and dropped. */
const waitingCharacters = 1024 * 1024;
const flushDelay = 100;

export function createServerLogs(state: string): ServerLogs {
  const logs = new Map<string, ServerLog>();
  return {
    of(serverName) {
      const log = logs.get(serverName) ?? createServerLog(logPath(state, serverName), join(state, "logs"));
      logs.set(serverName, log);
      return log;
    },
    close: async () => void (await Promise.all([...logs.values()].map((log) => log.close()))),
  };
}

export function logPath(state: string, serverName: string): string {
  return join(state, "logs", `${safeName(serverName)}.log`);
}

/** A name that had to change carries a digest: two servers never share a file, also where case does not count. */
function safeName(serverName: string): string {
  if (/^[a-z0-9_][a-z0-9_.-]{0,63}$/.test(serverName)) return serverName;
  const digest = createHash("sha256").update(serverName).digest("hex").slice(0, 8);
  return `${serverName.replaceAll(/[^\w-]/g, "_").slice(0, 48)}-${digest}`;
}

function createServerLog(path: string, folder: string): ServerLog {
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
      dropped === 0 ? "" : `${new Date().toISOString()} note ${dropped} lines came too fast and are missing here\n`;
    const text = waiting.join("") + missing;
    [waiting, size, dropped] = [[], 0, 0];
    if (text !== "") writing = writing.then(() => append(path, folder, text));
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

async function append(path: string, folder: string, text: string): Promise<void> {
  try {
    await ensurePrivateFolder(folder);
    await rotate(path);
    await appendFile(path, text, { mode: privateFileMode });
  } catch {
    // A full disk or a folder that is not ours: the server is more important than its log.
  }
}

async function rotate(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || found.size < fileBytes) return;
  await rename(`${path}.1`, `${path}.2`).catch(() => undefined);
  await rename(path, `${path}.1`);
}

/** Fit for a terminal, as logs are looked at with any program: colours go, other controls become pictures. */
function toLogLine(line: string): string {
  const plain = toSafeLine(withoutColours(line));
  return plain.length <= lineCharacters
    ? plain
    : `${plain.slice(0, lineCharacters)}… (${plain.length - lineCharacters} more characters)`;
}
