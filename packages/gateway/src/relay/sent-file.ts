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
    // If it fails, the old file still has all notes; the next attempt comes after as many again.
    notes = open.size;
    const fresh = openSync(next, "w", 0o600);
    try {
      writeWhole(fresh, [...open.values()].join(""));
      renameSync(next, path);
    } catch {
      closeSync(fresh);
      rmSync(next, { force: true });
      return;
    }
    closeSync(file);
    file = fresh;
  }

  return {
    add(id, subject) {
      // The newline comes first: a note that a full disk has cut off does not spoil the next one.
      const note = `\n${JSON.stringify([id, subject])}`;
      writeWhole(file, note);
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
      const [id, subject] = noteIn(line);
      if (id !== undefined) sent.set(JSON.stringify(id), String(subject));
    }
    rmSync(path, { force: true });
  } catch {
    // The host has sent nothing, or ended before it created the file.
  }
  return sent;
}

/** A note that was cut off has no id: its request was not sent on the strength of it. */
function noteIn(line: string): readonly unknown[] {
  try {
    const note: unknown = JSON.parse(line);
    return Array.isArray(note) ? note : [];
  } catch {
    return [];
  }
}

/** @throws if the disk is full: a part of the text may be written then */
function writeWhole(file: number, text: string): void {
  if (writeSync(file, text) < Buffer.byteLength(text)) throw new Error("the disk is full");
}
