/**
 * The file in which a host records each request before it sends the request to its server. After the loss of the host,
 * the relay reads there which requests may have run.
 */

import { closeSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";

/** The functions with which a host writes the file. */
export interface SentFile {
  /**
   * Records a request. Returns when the operating system has received the record.
   *
   * @throws Error if the record cannot be written
   */
  add(id: number | string, subject: string): void;
  /** Removes the record of a request, because the client has received the response. */
  done(id: number | string): void;
  /** Removes the file, unless the relay still needs it. */
  close(options: { readonly keep: boolean }): void;
}

/** After this many records, the file is rewritten with only the records of open requests. */
const mostNotes = 2000;

/**
 * Creates the file.
 * @throws Error if the file cannot be created
 */
export function createSentFile(path: string): SentFile {
  let file = openSync(path, "w", 0o600);
  let notes = 0;
  const open = new Map<number | string, string>();

  /** Replaces the file in one step. If the host ends during the change, either the old or the new file remains. */
  function compact(): void {
    const next = `${path}.new`;
    // If the rewrite fails, the old file still has all records.
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
      // Writes the newline first, so that a record which a full disk has cut off does not damage the next record.
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
 * Reads the recorded requests, then removes the file. Returns, by request id as JSON text, the name of the tool, prompt
 * or resource that may have run.
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
    // If the file is missing, the host has sent no request, or it ended before it created the file.
  }
  return sent;
}

/** Parses one record. Returns an empty list for an incomplete record, whose request was never sent. */
function noteIn(line: string): readonly unknown[] {
  try {
    const note: unknown = JSON.parse(line);
    return Array.isArray(note) ? note : [];
  } catch {
    return [];
  }
}

/**
 * Writes the text.
 * @throws Error if the disk is full; a part of the text may have been written
 */
function writeWhole(file: number, text: string): void {
  if (writeSync(file, text) < Buffer.byteLength(text)) throw new Error("the disk is full");
}
