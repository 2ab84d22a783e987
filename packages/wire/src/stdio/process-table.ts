/** Reads `/proc` to find two things: processes with a tag in their environment, and process groups that still run. */

import { Buffer } from "node:buffer";

// `node:fs` is not imported, because an import would also load streams and `fs/promises`.
const { closeSync, existsSync, openSync, readdirSync, readSync } = process.getBuiltinModule("node:fs");

/** Number of processes to read before other work of the event loop may run. */
const perTurn = 100;

/** The processes found in `/proc`. */
export interface ProcessTable {
  /** Ids of running processes. The key is the tag in their environment, without the prefix. */
  readonly tagged: ReadonlyMap<string, readonly number[]>;
  /** Those of the requested process groups in which at least one process is not a zombie. */
  readonly livingGroups: ReadonlySet<number>;
}

/**
 * Reads the process table. Files are read synchronously, because `/proc` needs no disk and asynchronous reads would be
 * slower.
 */
export async function readProcessTable(prefix: string, groups: ReadonlySet<number>): Promise<ProcessTable> {
  const needle = Buffer.from(prefix);
  const read = createReader(64 * 1024);
  const tagged = new Map<string, number[]>();
  const livingGroups = new Set<number>();
  let count = 0;
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    count += 1;
    if (count % perTurn === 0) await new Promise((resolve) => setImmediate(resolve));
    if (groups.size > 0) {
      const group = livingGroupIn(read(`/proc/${name}/stat`));
      if (groups.has(group)) livingGroups.add(group);
    }
    /*
     * Kernel threads and processes of other users have no readable `exe`. They are skipped, because failed reads of
     * `environ` are slow.
     */
    if (!existsSync(`/proc/${name}/exe`)) continue;
    const tag = tagIn(read(`/proc/${name}/environ`), needle);
    if (tag !== undefined) tagged.set(tag, [...(tagged.get(tag) ?? []), pid]);
  }
  return { tagged, livingGroups };
}

/** Returns the tag in an environment. The environment of a zombie is empty and has no tag. */
function tagIn(environment: Buffer, needle: Buffer): string | undefined {
  const start = environment.indexOf(needle);
  if (start === -1) return undefined;
  const end = environment.indexOf(0, start);
  return environment.toString("latin1", start + needle.length, end === -1 ? environment.length : end);
}

/** Whether a process runs and is not a zombie. */
export function isAlive(pid: number): boolean {
  try {
    return livingGroupIn(createReader(512)(`/proc/${pid}/stat`)) !== 0;
  } catch {
    return true;
  }
}

/** Returns the process group. Returns 0 if the process has ended or is a zombie. */
function livingGroupIn(stat: Buffer): number {
  const text = stat.toString("latin1");
  // The process name in field 2 may contain ") ", so the other fields are read after the last ") ".
  const fields = text.slice(text.lastIndexOf(") ") + 2).split(" ", 18);
  const [state, , group] = fields;
  // If only the main thread has ended, the state is also `Z`. Field 20 is the number of threads.
  const isDead = (state === "Z" || state === "X") && Number(fields[17]) <= 1;
  return isDead ? 0 : Number(group ?? 0);
}

/** Reads small files into one reused buffer. A missing or forbidden file reads as empty. */
function createReader(bytes: number): (file: string) => Buffer {
  let scratch = Buffer.allocUnsafe(bytes);

  function fill(descriptor: number): Buffer {
    let size = 0;
    for (;;) {
      size += readSync(descriptor, scratch, size, scratch.length - size, null);
      if (size < scratch.length) return scratch.subarray(0, size);
      scratch = Buffer.concat([scratch], scratch.length * 2);
    }
  }

  return (file) => {
    let descriptor: number | undefined;
    try {
      descriptor = openSync(file, "r");
      return fill(descriptor);
    } catch (error) {
      // Without a free file descriptor, no file can be read. An empty result would mean that every process has ended.
      if (isOutOfDescriptors(error)) throw error;
      return scratch.subarray(0, 0);
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
    }
  };
}

function isOutOfDescriptors(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EMFILE" || error.code === "ENFILE");
}
