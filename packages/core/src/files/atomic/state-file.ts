/**
 * Reads and writes Fairlead's state files (JSON, readable by the user only). A corrupt file is renamed and counts as
 * absent.
 */

import { rename } from "node:fs/promises";
import { dirname } from "node:path";
import { parseJson } from "@fairlead/wire/json";
import { HostError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { readText } from "../read-text.ts";
import { findWritableFile } from "../real-path.ts";
import { notRead, unless } from "../system-error.ts";
import { withLock } from "./lock.ts";
import { ensurePrivateFolder, keepPrivate, privateFileMode } from "./private-folder.ts";
import { updateText } from "./update-text.ts";

/** Checks the parsed JSON. Returns undefined if it is invalid. Must not throw. */
export type Parse<T> = (value: unknown) => T | undefined;

type State<T> =
  | { readonly kind: "absent" }
  | { readonly kind: "corrupt" }
  | { readonly kind: "value"; readonly value: T };

/** Reads a state file. Undefined if it does not exist or is corrupt. */
export async function readState<T>(file: string, parse: Parse<T>): Promise<T | undefined> {
  const state = await load(file, parse);
  switch (state.kind) {
    case "absent":
      return undefined;
    case "value":
      return state.value;
    case "corrupt":
      return recover(file, parse);
  }
}

/**
 * Changes a state file under its lock. `change` returns the new value, or undefined to leave the file as it is.
 * `change` may be called more than once.
 */
export async function updateState<T>(
  file: string,
  parse: Parse<T>,
  change: (value: T | undefined) => T | undefined,
): Promise<void> {
  await ensurePrivateFolder(dirname(file));
  await keepPrivate(file);
  // If the file is corrupt, `readState` renames it.
  await readState(file, parse);
  await updateText(
    file,
    (text) => {
      const state = text === undefined ? ({ kind: "absent" } as const) : decode(text, parse);
      if (state.kind === "corrupt") throw new HostError("internal", `${file} was damaged while it was being written`);
      const value = change(state.kind === "value" ? state.value : undefined);
      return value === undefined ? undefined : `${JSON.stringify(value, undefined, 2)}\n`;
    },
    { mode: privateFileMode },
  );
}

/** Renames a file (or copies it, with `how`) to a new name that contains the time. Returns the new name. */
export async function setAside(file: string, how: typeof rename = rename): Promise<string> {
  const aside = `${file}.corrupt-${new Date().toISOString().replaceAll(":", "-")}`;
  // If the file does not exist, another process has already renamed it.
  await how(file, aside).catch(unless("ENOENT"));
  return aside;
}

/**
 * Renames a corrupt file. First takes the lock and reads the file again, because another process may have replaced it.
 */
async function recover<T>(file: string, parse: Parse<T>): Promise<T | undefined> {
  const recovery = withLock(await findWritableFile(file), async () => {
    const state = await load(file, parse);
    if (state.kind === "corrupt") await setAside(file);
    return state.kind === "value" ? state.value : undefined;
  });
  // If the file cannot be renamed, it stays, and readers treat it as absent.
  return recovery.catch(unless("EACCES", "EPERM", "EROFS"));
}

async function load<T>(file: string, parse: Parse<T>): Promise<State<T>> {
  const found = await readText(file, limits.settingsBytes);
  switch (found.kind) {
    case "absent":
      return { kind: "absent" };
    case "text":
      return decode(found.text, parse);
    case "unreadable":
      // The file may be valid although it cannot be read now, so it is not renamed.
      if (found.cause !== undefined) throw notRead(file, found.reason, found.cause);
      return { kind: "corrupt" };
  }
}

function decode<T>(text: string, parse: Parse<T>): State<T> {
  const json = parseJson(text);
  const value = json === undefined ? undefined : parse(json);
  return value === undefined ? { kind: "corrupt" } : { kind: "value", value };
}
