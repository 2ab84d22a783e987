/** Reads the machine's processes from `/proc`: who carries a tag in the environment, which group still has life in it. */

import { Buffer } from "node:buffer";

// Not an import: that asks for everything the module has, and loads streams and promises of files along with it.
const { closeSync, existsSync, openSync, readdirSync, readSync } = process.getBuiltinModule("node:fs");

/** Read between two turns of the event loop, so that a crowded machine does not stall the host. */
const perTurn = 100;

export interface ProcessTable {
  /** Living processes by the end of their tag, the part after the prefix. */
  readonly tagged: ReadonlyMap<string, readonly number[]>;
  /** Those of the groups asked about that have a member which is not a zombie. */
  readonly livingGroups: ReadonlySet<number>;
}

/** Synchronous reads on purpose: `/proc` never waits for a disk, and a thread's round trip costs more than the read. */
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
    // Kernel threads and other users' processes, often most of them, have no program we may see: asking first spares
    // the error that opening their environment throws, and that costs more than all the rest.
    if (!existsSync(`/proc/${name}/exe`)) continue;
    const tag = tagIn(read(`/proc/${name}/environ`), needle);
    if (tag !== undefined) tagged.set(tag, [...(tagged.get(tag) ?? []), pid]);
  }
  return { tagged, livingGroups };
}

/** The environment of a zombie reads as nothing: it carries no tag any more. */
function tagIn(environment: Buffer, needle: Buffer): string | undefined {
  const start = environment.indexOf(needle);
  if (start === -1) return undefined;
  const end = environment.indexOf(0, start);
  return environment.toString("latin1", start + needle.length, end === -1 ? environment.length : end);
}

/** Whether a process is there and not only waiting to be buried. */
export function isAlive(pid: number): boolean {
  try {
    return livingGroupIn(createReader(512)(`/proc/${pid}/stat`)) !== 0;
  } catch {
    return true;
  }
}

/** The process group, or 0 when the process is gone or only waits to be buried. */
function livingGroupIn(stat: Buffer): number {
  const text = stat.toString("latin1");
  // The name in the second field may contain anything, also ") ": the fields begin after the last one.
  const fields = text.slice(text.lastIndexOf(") ") + 2).split(" ", 18);
  const [state, , group] = fields;
  // A process whose first thread has ended looks like a zombie; its other threads run on.
  const isDead = (state === "Z" || state === "X") && Number(fields[17]) <= 1;
  return isDead ? 0 : Number(group ?? 0);
}

/** Reads small files into one buffer, valid until the next read; what is gone or another user's reads as nothing. */
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
      // With no descriptors left every process would seem to be gone.
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
