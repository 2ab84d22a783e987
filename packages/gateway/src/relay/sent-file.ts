/**
 * The file in which a host notes each request of one relay before it sends the request to its server. The relay reads
 * it only after the host was lost: a written line outlives its writer, and costs the relay nothing while all is well.
 */

import { closeSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";

/** The host's end. */
export interface SentFile {
  /** Returns when the operating system has the note. @throws if it cannot be written */
  add(id: number | string, subject: string): void;
  /** The client has the response: the note is not needed any more. */
  done(id: number | string): void;
  /** Removes the file, unless the relay needs it. */
  close(options: { readonly keep: boolean }): void;
}

/** Notes after which the file is written anew with those that still count. */
const mostNotes = 2000;

/** @throws if the file cannot be made */
export function createSentFile(path: string): SentFile {
  let file = openSync(path, "w", 0o600);
  let notes = 0;
  const open = new Map<number | string, string>();

  /** In one step: a host that dies meanwhile leaves the old file or the new one. */
  function compact(): void {
    const next = `${path}.new`;
    const fresh = openSync(next, "w", 0o600);
    writeSync(fresh, [...open.values()].join(""));
    renameSync(next, path);
    closeSync(file);
    file = fresh;
    notes = open.size;
  }

  return {
    add(id, subject) {
      const note = `${JSON.stringify([id, subject])}\n`;
      writeSync(file, note);
      open.set(id, note);
      notes += 1;
      if (notes > mostNotes + open.size) compact();
    },
    done: (id) => void open.delete(id),
    close({ keep }) {
      closeSync(file);
      if (!keep) rmSync(path, { force: true });
    },
  };
}

/** The noted requests: what may have run, by the request's id as JSON text. Removes the file. */
export function takeSentFile(path: string): ReadonlyMap<string, string> {
  const sent = new Map<string, string>();
  try {
    for (const line of readFileSync(path, "utf8").split("\n")) {
      if (line === "") continue;
      const [id, subject] = JSON.parse(line) as readonly unknown[];
      sent.set(JSON.stringify(id), String(subject));
    }
    rmSync(path, { force: true });
  } catch {
    // The host has sent nothing, or has failed before it made the file.
  }
  return sent;
}
