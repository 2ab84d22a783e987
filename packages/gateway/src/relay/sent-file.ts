/**
 * The file in which a host notes each request before it sends the request to its server. A relay reads the file only
 * after it has lost the host: the notes survive the host, and cost the relay nothing while the host runs.
 */

import { closeSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";

/** The host's end. */
export interface SentFile {
  /**
   * Notes a request; returns when the operating system has the note.
   *
   * @throws if the note cannot be written
   */
  add(id: number | string, subject: string): void;
  /** Removes a note, because the client has received the response. */
  done(id: number | string): void;
  /** Removes the file, unless the relay still needs it. */
  close(options: { readonly keep: boolean }): void;
}

/** After this many notes, the file is rewritten with only the current ones. */
const mostNotes = 2000;

/** @throws if the file cannot be created */
export function createSentFile(path: string): SentFile {
  let file = openSync(path, "w", 0o600);
  let notes = 0;
  const open = new Map<number | string, string>();

  /** Replaces the file in one step: a host that ends during the change leaves the old file or the new one. */
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

/**
 * Reads the noted requests, then removes the file. Returns the name of what may have run, by request id as JSON text.
 */
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
    // The host has sent nothing, or ended before it created the file.
  }
  return sent;
}
