/** What is remembered about signing in beside the tokens: which servers wanted it, and for which one was offered from elsewhere. */

import { join } from "node:path";
import { isObject } from "@fairlead/wire/json";
import { readState, updateState } from "../../files/atomic/state-file.ts";
import { secretNameOf, signInFolder } from "./token-storage.ts";

/**
 * `wanted`: it refused a request, and a person is needed; with the digest of the token that it refused, if one was sent.
 * `offered`: a sign-in of another program was offered for it.
 */
export type NoteKind = "wanted" | "offered";

/** Which sign-in is meant: that of a server, as an entry pins it. */
export interface SignInKey {
  readonly serverUrl: string;
  readonly pin?: string | undefined;
}

/** Each a name, and perhaps more about it after a blank. */
type SignInNotes = Readonly<Partial<Record<NoteKind, readonly string[]>>>;

/** The oldest are forgotten: whoever asks too much of the disk gets no more of it. */
const mostServers = 1_000;

/** What was noted with it, perhaps nothing; undefined: there is none. */
export async function signInNote(
  state: string,
  kind: NoteKind,
  { serverUrl, pin }: SignInKey,
): Promise<string | undefined> {
  const notes = await readState(fileIn(state), parseNotes);
  const name = await secretNameOf(serverUrl, pin);
  return notes?.[kind]?.find((line) => nameIn(line) === name)?.slice(name.length + 1);
}

/** Undefined takes it away. */
export async function setSignInNote(
  state: string,
  kind: NoteKind,
  which: SignInKey,
  note: string | undefined,
): Promise<void> {
  // Mostly nothing changes, and then nothing is written.
  if ((await signInNote(state, kind, which)) === note) return;
  const name = await secretNameOf(which.serverUrl, which.pin);
  await updateState(fileIn(state), parseNotes, (notes = {}) => {
    const others = (notes[kind] ?? []).filter((line) => nameIn(line) !== name);
    return { ...notes, [kind]: note === undefined ? others : [...others, `${name} ${note}`].slice(-mostServers) };
  });
}

/** Says which token it was, and not what it is. */
export async function tokenDigest(accessToken: string): Promise<string> {
  const { createHash } = await import("node:crypto");
  return createHash("sha256").update(accessToken).digest("hex").slice(0, 32);
}

function nameIn(line: string): string {
  return line.split(" ", 1)[0] ?? "";
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
