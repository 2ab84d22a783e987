/** Reads `/proc` (Linux) to find processes with a certain environment variable, and process groups that still run. */

import { Buffer } from "node:buffer";

// An `import` of `node:fs` would also load streams and `fs/promises`, which is slow.
const { closeSync, existsSync, openSync, readdirSync, readSync } = process.getBuiltinModule("node:fs");

/** After reading this many processes, other code may run. */
const perTurn = 100;
/** A process that replaces its program is read again after pauses that double, in milliseconds. */
const firstPause = 1;
const longestPause = 128;

/** The processes found in `/proc`. */
export interface ProcessTable {
  /** Ids of running processes. The key is what follows the prefix in their environment variable. */
  readonly tagged: ReadonlyMap<string, readonly number[]>;
  /** The requested process groups in which a process still runs. A zombie does not count. */
  readonly livingGroups: ReadonlySet<number>;
}

/**
 * Reads the process table. Reads are synchronous, because `/proc` needs no disk and asynchronous reads would be slower.
 *
 * @param prefix The name and the first characters of the environment variable to look for.
 * @param groups The process groups to check.
 * @param folder Where the system has its process table.
 */
export async function readProcessTable(
  prefix: string,
  groups: ReadonlySet<number>,
  folder = "/proc",
): Promise<ProcessTable> {
  const needle = Buffer.from(prefix);
  const read = createReader(64 * 1024);
  const tagged = new Map<string, number[]>();
  const livingGroups = new Set<number>();

  /** Returns false if the process has no environment for a moment, because it replaces its program. */
  function readTag(pid: number): boolean {
    let environment = read(`${folder}/${pid}/environ`);
    if (environment.length === 0) {
      if (isReplacing(read(`${folder}/${pid}/stat`))) return false;
      environment = read(`${folder}/${pid}/environ`);
    }
    const tag = tagIn(environment, needle);
    if (tag !== undefined) tagged.set(tag, [...(tagged.get(tag) ?? []), pid]);
    return true;
  }

  let replacing: number[] = [];
  let count = 0;
  for (const name of readdirSync(folder)) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    count += 1;
    if (count % perTurn === 0) await new Promise((resolve) => setImmediate(resolve));
    if (groups.size > 0) {
      const group = livingGroupIn(read(`${folder}/${name}/stat`));
      if (groups.has(group)) livingGroups.add(group);
    }
    /*
     * The `exe` of kernel threads and of other users' processes is not readable. Reading their `environ` would fail
     * slowly.
     */
    if (!existsSync(`${folder}/${name}/exe`)) continue;
    if (!readTag(pid)) replacing.push(pid);
  }
  for (let pause = firstPause; replacing.length > 0 && pause <= longestPause; pause *= 2) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    replacing = replacing.filter((pid) => !readTag(pid));
  }
  return { tagged, livingGroups };
}

/** A zombie has an empty environment, so it is never found. */
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

/** Returns the process group, or 0 if the process has ended or is a zombie. */
function livingGroupIn(stat: Buffer): number {
  const fields = fieldsOf(stat);
  return isDead(fields) ? 0 : Number(fields[2] ?? 0);
}

/**
 * Whether the process replaces its program (`execve`). Field 51, the address where the environment ends, is then 0. It
 * is not 0 if the environment is only empty.
 */
function isReplacing(stat: Buffer): boolean {
  const fields = fieldsOf(stat);
  return fields[48] === "0" && !isDead(fields);
}

/** A process whose main thread has ended is also in state `Z`. Field 20 is the number of threads that still run. */
function isDead(fields: readonly string[]): boolean {
  return (fields[0] === "Z" || fields[0] === "X") && Number(fields[17]) <= 1;
}

/** The fields after the process name, from field 3 on. The name may contain ") ", so the search is from the end. */
function fieldsOf(stat: Buffer): readonly string[] {
  const text = stat.toString("latin1");
  return text.slice(text.lastIndexOf(") ") + 2).split(" ", 49);
}

/** Reads files into one buffer that is reused. A file that is missing or forbidden counts as empty. */
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
      // No file can be read. If they counted as empty, every process would seem to have ended.
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
