/**
 * The file in which a host records each request before sending it to a server. If the host is lost, the relay reads
 * here which requests may have run.
 */

import { closeSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { listOf, parseJson } from "@fairlead/wire/json";

/** The file of one client, as the host writes it. */
export interface SentFile {
  /**
   * Records a request. The record survives the end of this process.
   * @throws Error if the file cannot be created or the record cannot be written
   */
  add(id: number | string, subject: string): void;
  /** Call this when the client has the response. The record is removed later, when the file is rewritten. */
  done(id: number | string): void;
  /** Closes the file. Removes it unless `keep` is set, because the relay still needs it. */
  close(options: { readonly keep: boolean }): void;
}

/** After so many unneeded records, the file is rewritten with only the open requests. */
const mostNotes = 2000;

/** Writes to a file that only this user can read. Creates it for the first record: most clients never need it. */
export function createSentFile(path: string): SentFile {
  let file: number | undefined;
  let notes = 0;
  const open = new Map<number | string, string>();

  /** Writes a new file and renames it. If the host ends in between, the old file remains. */
  function compact(full: number): void {
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
    closeSync(full);
    file = fresh;
  }

  return {
    add(id, subject) {
      // Begins with the newline: the record before may have been cut by a full disk.
      const note = `\n${JSON.stringify([id, subject])}`;
      file ??= openSync(path, "w", 0o600);
      writeWhole(file, note);
      open.set(id, note);
      notes += 1;
      if (notes > mostNotes + open.size) compact(file);
    },
    done: (id) => void open.delete(id),
    close({ keep }) {
      if (file === undefined) return;
      closeSync(file);
      if (keep) return;
      try {
        rmSync(path, { force: true });
      } catch {
        // The disk is read-only by now. A later host removes the file.
      }
    },
  };
}

/**
 * Reads the recorded requests and removes the file. Returns what may have run, by request id as JSON text. Returns
 * undefined if the records are lost, for example because no file descriptor is left: then any request may have run.
 *
 * @param hasRecords Whether the host has recorded requests. Then the records are lost if there are none.
 */
export function takeSentFile(path: string, hasRecords: boolean): ReadonlyMap<string, string> | undefined {
  const sent = new Map<string, string>();
  try {
    for (const line of readFileSync(path, "utf8").split("\n")) {
      const [id, subject] = noteIn(line);
      if (id !== undefined) sent.set(JSON.stringify(id), String(subject));
    }
  } catch (error) {
    // The host creates the file for the first record.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") return undefined;
  }
  if (hasRecords && sent.size === 0) return undefined;
  try {
    rmSync(path, { force: true });
  } catch {
    // The disk is read-only by now. A later host removes the file.
  }
  return sent;
}

/** An incomplete record means that the request was not sent, so it is ignored. */
function noteIn(line: string): readonly unknown[] {
  return listOf(parseJson(line));
}

function writeWhole(file: number, text: string): void {
  if (writeSync(file, text) < Buffer.byteLength(text)) throw new Error("the disk is full");
}
