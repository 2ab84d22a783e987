/**
 * Reports changes of settings files on disk. Changes that follow each other within 200 ms are reported as one. What the
 * host has written or read itself is not reported.
 */

import { type FSWatcher, watch } from "node:fs";
import { basename, dirname } from "node:path";
import type { Clock } from "../clock.ts";
import { readText } from "../files/read-text.ts";
import { limits } from "../limits.ts";

/** Milliseconds to wait after a change, because editors write a file in several steps or replace it. */
const settleTime = 200;

/** A file to watch. */
export interface WatchedFile {
  readonly file: string;
  /** Reads what counts as the file's content. Default: its text. */
  readonly read?: () => Promise<string | undefined>;
}

/** A running watch. `close` ends it. */
export class FileWatch {
  readonly #onChange: (file: string) => void;
  readonly #clock: Clock;
  /** The content of each file that the host knows: when it last read the settings, or when it reported a change. */
  readonly #contents = new Map<WatchedFile, Promise<string | undefined>>();
  readonly #closers: (() => void)[] = [];
  /** Ends with the host's own changes of the files. */
  #ownChanges: Promise<unknown> = Promise.resolve();
  #isOpen = true;

  constructor(files: readonly WatchedFile[], onChange: (file: string) => void, clock: Clock) {
    this.#onChange = onChange;
    this.#clock = clock;
    for (const one of files) {
      this.#contents.set(one, contentOf(one));
      this.#watch(one);
    }
  }

  /** Takes the files' present contents as known, because the host reads the settings now. */
  renew(): void {
    for (const one of this.#contents.keys()) this.#contents.set(one, contentOf(one));
  }

  /** Reports nothing until `change` has settled. It changes files and makes the host read the settings. */
  async during<T>(change: () => Promise<T>): Promise<T> {
    const changing = change();
    this.#ownChanges = Promise.allSettled([this.#ownChanges, changing]);
    return changing;
  }

  close(): void {
    this.#isOpen = false;
    for (const close of this.#closers) close();
  }

  /**
   * Watches the file's folder, because a watch on a file ends when the file is replaced. If the folder does not exist,
   * watches its parent.
   */
  #watch(one: WatchedFile): void {
    let callOff = (): void => {};
    const lookSoon = (): void => {
      callOff();
      callOff = this.#clock.after(settleTime, () => void this.#look(one), { background: true });
    };
    const folder = dirname(one.file);
    const watchFolder = (): FSWatcher | undefined => openWatcher(folder, basename(one.file), lookSoon);
    let watcher = watchFolder();
    const above = watcher
      ? undefined
      : openWatcher(dirname(folder), basename(folder), () => {
          watcher ??= watchFolder();
          lookSoon();
        });
    this.#closers.push(() => {
      callOff();
      watcher?.close();
      above?.close();
    });
  }

  /** Compares the content, because the event may be about another file in the folder. */
  async #look(one: WatchedFile): Promise<void> {
    const ended = this.#ownChanges;
    await ended;
    const content = await contentOf(one);
    // A change of the host's own that began meanwhile may have written the file.
    if (this.#ownChanges !== ended) return this.#look(one);
    if (content === (await this.#contents.get(one)) || !this.#isOpen) return;
    this.#contents.set(one, Promise.resolve(content));
    this.#onChange(one.file);
  }
}

function openWatcher(folder: string, wanted: string, onEvent: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, (_event, name) => {
      if (name === null || name === wanted) onEvent();
    });
    // For example, the folder was removed, or the system allows no more watches. Changes are then not reported.
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}

async function contentOf({ file, read }: WatchedFile): Promise<string | undefined> {
  if (read !== undefined) return read();
  const found = await readText(file, limits.settingsBytes);
  return found.kind === "text" ? `text ${found.text}` : found.kind;
}
