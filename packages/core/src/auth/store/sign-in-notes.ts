/**
 * Notes about sign-ins: which servers require sign-in, and for which servers Fairlead offered to take over the sign-in
 * of Gemini CLI.
 */

import { join } from "node:path";
import { isObject } from "@fairlead/wire/json";
import { readState, updateState } from "../../files/atomic/state-file.ts";
import { secretNameOf, signInFolder } from "./token-storage.ts";

/**
 * The kinds of notes. `wanted`: the server requires sign-in. If the server refused a token, the note contains the
 * token's digest. `offered`: Fairlead has asked whether to take over the sign-in of Gemini CLI.
 */
export type NoteKind = "wanted" | "offered";

/** Identifies a sign-in: the server's URL, and the `pinOf` digest of the server's definition. */
export interface SignInKey {
  readonly serverUrl: string;
  readonly pin?: string | undefined;
}

/** The content of the file with the notes. Each note consists of the name of a stored sign-in, a space, and a text. */
type SignInNotes = Readonly<Partial<Record<NoteKind, readonly string[]>>>;

/** Maximum number of notes of one kind. When there are more, Fairlead drops the oldest. */
const mostServers = 1_000;

/** The text of a note, which may be empty. Undefined if there is no note. */
export async function signInNote(
  state: string,
  kind: NoteKind,
  { serverUrl, pin }: SignInKey,
): Promise<string | undefined> {
  const notes = await readState(fileIn(state), parseNotes);
  const name = await secretNameOf(serverUrl, pin);
  return notes?.[kind]?.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1);
}

/** Writes the note. If `note` is undefined, deletes it. */
export async function setSignInNote(
  state: string,
  kind: NoteKind,
  which: SignInKey,
  note: string | undefined,
): Promise<void> {
  if ((await signInNote(state, kind, which)) === note) return;
  const name = await secretNameOf(which.serverUrl, which.pin);
  await updateState(fileIn(state), parseNotes, (notes = {}) => {
    const others = (notes[kind] ?? []).filter((line) => !line.startsWith(`${name} `));
    return { ...notes, [kind]: note === undefined ? others : [...others, `${name} ${note}`].slice(-mostServers) };
  });
}

/** A digest that identifies a token without revealing it. */
export async function tokenDigest(accessToken: string): Promise<string> {
  const { createHash } = await import("node:crypto");
  return createHash("sha256").update(accessToken).digest("hex").slice(0, 32);
}

function fileIn(state: string): string {
  return join(signInFolder(state), "marks.json");
}

function parseNotes(value: unknown): SignInNotes | undefined {
  if (!isObject(value)) return undefined;
  return { wanted: textsIn(value["wanted"]), offered: textsIn(value["offered"]) };
}

function textsIn(value: unknown): readonly string[] {
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  return items.filter((item) => typeof item === "string");
}
