/** Fairlead's own JSON files, readable by their owner alone. One that is corrupt is set aside and counts as absent. */

import { rename } from "node:fs/promises";
import { dirname } from "node:path";
import { HostError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { findWritableFile } from "../find-target.ts";
import { readText } from "../read-text.ts";
import { notRead, unless } from "../system-error.ts";
import { withLock } from "./lock.ts";
import { ensurePrivateFolder, keepPrivate, privateFileMode } from "./private-folder.ts";
import { updateText } from "./update-text.ts";

/** Gives undefined for what it does not recognise; never throws. */
export type Parse<T> = (value: unknown) => T | undefined;

type State<T> =
  | { readonly kind: "absent" }
  | { readonly kind: "corrupt" }
  | { readonly kind: "value"; readonly value: T };

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

/** `change` gives undefined to leave the file as it is; it may be called more than once. */
export async function updateState<T>(
  file: string,
  parse: Parse<T>,
  change: (value: T | undefined) => T | undefined,
): Promise<void> {
  await ensurePrivateFolder(dirname(file));
  await keepPrivate(file);
  // Sets a corrupt file aside; what is read again below, under the lock, is what counts.
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

/** Moves a file out of the way, or copies it, under a name that says when; gives that name. */
export async function setAside(file: string, how: typeof rename = rename): Promise<string> {
  const aside = `${file}.corrupt-${new Date().toISOString().replaceAll(":", "-")}`;
  // Gone already: whoever took it away did what was wanted.
  await how(file, aside).catch(unless("ENOENT"));
  return aside;
}

/** Under the lock, and only if it is still corrupt: another process may have put a good file there. */
async function recover<T>(file: string, parse: Parse<T>): Promise<T | undefined> {
  const recovery = withLock(await findWritableFile(file), async () => {
    const state = await load(file, parse);
    if (state.kind === "corrupt") await setAside(file);
    return state.kind === "value" ? state.value : undefined;
  });
  // Where nothing can be moved, the file stays; to a reader it is absent all the same.
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
      // What the system does not let us read today may be good tomorrow.
      if (found.cause !== undefined) throw notRead(file, found.reason, found.cause);
      return { kind: "corrupt" };
  }
}

function decode<T>(text: string, parse: Parse<T>): State<T> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { kind: "corrupt" };
  }
  const value = parse(json);
  return value === undefined ? { kind: "corrupt" } : { kind: "value", value };
}
