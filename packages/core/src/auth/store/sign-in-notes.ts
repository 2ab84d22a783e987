/**
 * Notes about sign-ins: which servers require sign-in, and where Fairlead has offered to use the sign-in of Gemini CLI.
 */

import { join } from "node:path";
import { isObject, listOf } from "@fairlead/wire/json";
import { readState, updateState } from "../../files/atomic/state-file.ts";
import { secretNameOf, signInFolder } from "./token-storage.ts";

/**
 * `wanted`: the server requires sign-in. Its note is the digest of the refused token, if any. `offered`: Fairlead has
 * asked whether to use the sign-in of Gemini CLI.
 */
export type NoteKind = "wanted" | "offered";

/** The server's URL, and the digest of its definition from `pinOf`. Together they identify a sign-in. */
export interface SignInKey {
  readonly serverUrl: string;
  readonly pin?: string | undefined;
}

/** The file's content. A note is the name of a stored sign-in, a space, and a text. */
type SignInNotes = Readonly<Partial<Record<NoteKind, readonly string[]>>>;

/** Of each kind, only this many notes are kept. The oldest are dropped. */
const mostServers = 1_000;

/** Returns the text of a note, which may be empty, or undefined if there is no note. */
export async function signInNote(
  state: string,
  kind: NoteKind,
  { serverUrl, pin }: SignInKey,
): Promise<string | undefined> {
  const notes = await readState(fileIn(state), parseNotes);
  const name = await secretNameOf(serverUrl, pin);
  return notes?.[kind]?.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1);
}

/** Writes a note, or deletes it if `note` is undefined. */
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

/** Returns a digest of a token. It shows whether two tokens are equal, but not the token. */
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
  return listOf(value).filter((item) => typeof item === "string");
}
