/**
 * The file in which a host records each request before it sends the request to its server. After the loss of the host,
 * the relay reads in this file which requests may have run.
 */

import { closeSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { listOf, parseJson } from "@fairlead/wire/json";

/** The functions with which a host writes the file. */
export interface SentFile {
  /**
   * Records a request. Returns when the operating system has received the record.
   *
   * @throws Error if the record cannot be written
   */
  add(id: number | string, subject: string): void;
  /** Forgets a request whose response was sent to the client. Its record is removed when the file is rewritten. */
  done(id: number | string): void;
  /** Removes the file, unless the relay still needs it. */
  close(options: { readonly keep: boolean }): void;
}

/** When this many records are no longer needed, the file is rewritten with only the records of open requests. */
const mostNotes = 2000;

/**
 * Creates the file.
 * @throws Error if the file cannot be created
 */
export function createSentFile(path: string): SentFile {
  let file = openSync(path, "w", 0o600);
  let notes = 0;
  const open = new Map<number | string, string>();

  /** Rewrites the file. If the host ends during the rewrite, the old file remains. */
  function compact(): void {
    const next = `${path}.new`;
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
      // The newline comes first, so that a record is complete even if the record before it was cut off by a full disk.
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
 * Reads the recorded requests, then removes the file. The keys of the returned map are request ids as JSON text. The
 * values are the tools, prompts and resources that may have run.
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
    // Without the file, no request was recorded.
  }
  return sent;
}

/** Parses one record. Returns an empty list if the record is incomplete. The request of such a record was not sent. */
function noteIn(line: string): readonly unknown[] {
  return listOf(parseJson(line));
}

/**
 * Writes the text.
 * @throws Error if only a part of the text could be written, because the disk is full
 */
function writeWhole(file: number, text: string): void {
  if (writeSync(file, text) < Buffer.byteLength(text)) throw new Error("the disk is full");
}
