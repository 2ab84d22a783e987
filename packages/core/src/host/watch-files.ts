/** Reports changes of settings files on disk. Changes that follow each other within 200 ms are reported as one. */

import { type FSWatcher, watch } from "node:fs";
import { basename, dirname } from "node:path";
import type { Clock } from "../clock.ts";
import { readText } from "../files/read-text.ts";
import { limits } from "../limits.ts";

/** A running watch. `close` ends it. */
export interface FileWatch {
  close(): void;
}

/** Milliseconds to wait after a change, because editors write a file in several steps or replace it. */
const settleTime = 200;

/**
 * Watches the files' folders, because a watch on a file ends when the file is replaced. If a folder does not exist,
 * watches its parent.
 */
export function watchFiles(files: readonly string[], onChange: (file: string) => void, clock: Clock): FileWatch {
  const watched = files.map((file) => watchFile(file, onChange, clock));
  return {
    close() {
      for (const one of watched) one.close();
    },
  };
}

function watchFile(file: string, onChange: (file: string) => void, clock: Clock): FileWatch {
  let isOpen = true;
  let callOff = (): void => {};
  let lastContent = contentOf(file);

  async function look(): Promise<void> {
    const before = await lastContent;
    lastContent = contentOf(file);
    // The event may be about another file in the folder, so the content is compared.
    if ((await lastContent) !== before && isOpen) onChange(file);
  }

  function lookSoon(): void {
    callOff();
    callOff = clock.after(settleTime, () => void look(), { background: true });
  }

  const folder = dirname(file);
  const watchFolder = (): FSWatcher | undefined => openWatcher(folder, basename(file), lookSoon);
  let watcher = watchFolder();
  const above = watcher
    ? undefined
    : openWatcher(dirname(folder), basename(folder), () => {
        watcher ??= watchFolder();
        lookSoon();
      });

  return {
    close() {
      isOpen = false;
      callOff();
      watcher?.close();
      above?.close();
    },
  };
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

async function contentOf(file: string): Promise<string> {
  const found = await readText(file, limits.settingsBytes);
  return found.kind === "text" ? `text ${found.text}` : found.kind;
}
