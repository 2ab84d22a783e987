/**
 * What Fairlead keeps on disk of one server's skills: the accepted entries, and verified files under their digests. The
 * folder belongs to the server, and is no folder in which a program looks for local skills.
 */

import { hash } from "node:crypto";
import { readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isObject, parseJson } from "@fairlead/wire/json";
import { ensurePrivateFolder, privateFileMode } from "../files/atomic/private-folder.ts";
import { temporaryName } from "../files/atomic/replace-file.ts";
import { readState, updateState } from "../files/atomic/state-file.ts";
import { readBytes } from "../files/read-text.ts";
import { unless } from "../files/system-error.ts";
import type { DefinitionOwner } from "../server/accepted-definitions.ts";
import { isSkill, type Skill, type SkillFile, skillLimits, toSkill } from "./skill.ts";

/** The largest number of accepted entries of one server. A further one replaces the oldest. */
const mostAccepted = 5_000;
/** Bytes of a stored entry. Of a larger one, only the digest is kept, so that a difference from it cannot be shown. */
const mostOfEntry = 1024 * 1024;
/** Bytes of verified files that are kept of one server. */
const mostBytes = 64 * 1024 * 1024;
/** Bytes that are written before the folder is looked at again. The first file of a run counts as so many. */
const mostUnswept = 8 * 1024 * 1024;

/** An accepted entry, without its files: all that a comparison needs. */
export interface AcceptedSkill {
  /** Identifies the skill's URI, which may be long. */
  readonly id: string;
  readonly name: string;
  readonly digest: string;
}

interface AcceptedFile {
  readonly version: 1;
  readonly server: string;
  /** Newest last. */
  readonly skills: readonly AcceptedSkill[];
}

/** The folder of a server's skills on disk. Reads nothing until it is used. */
export class SkillStore {
  readonly #owner: DefinitionOwner;
  readonly #folder: string;
  #unswept = mostUnswept;

  /** @param state The folder of Fairlead's state files. */
  constructor(state: string, owner: DefinitionOwner) {
    this.#owner = owner;
    this.#folder = ownFolder(state, owner);
  }

  /** The accepted entries. */
  async accepted(): Promise<readonly AcceptedSkill[]> {
    return (await readState(this.#acceptedFile, parse))?.skills ?? [];
  }

  /** The whole entry, so that a difference can be shown. Undefined if it is not kept, or is another one. */
  async entryOf({ id, digest }: AcceptedSkill): Promise<Skill | undefined> {
    const found = await readBytes(this.#entryFile(id), mostOfEntry);
    if (found.kind !== "bytes") return undefined;
    const entry = toSkill(parseJson(found.bytes.toString("utf8")));
    return isSkill(entry) && entry.digest === digest ? entry : undefined;
  }

  /** Replaces the accepted entry of this skill. */
  async accept(accepted: AcceptedSkill, skill: Skill): Promise<void> {
    let removed: readonly AcceptedSkill[] = [];
    await updateState(this.#acceptedFile, parse, (before) => {
      const all = [...(before?.skills ?? []).filter(({ id }) => id !== accepted.id), accepted];
      removed = all.slice(0, -mostAccepted);
      const file: AcceptedFile = { version: 1, server: this.#owner.server, skills: all.slice(-mostAccepted) };
      return file;
    });
    const entry = JSON.stringify(toStored(skill));
    if (Buffer.byteLength(entry) <= mostOfEntry) await this.#write(this.#entryFile(accepted.id), entry);
    else await rm(this.#entryFile(accepted.id), { force: true });
    for (const { id } of removed) await rm(this.#entryFile(id), { force: true });
  }

  /** The content of a verified file. Undefined if it is not kept, or no longer has its size and digest. */
  async read({ digest, size }: SkillFile): Promise<Buffer | undefined> {
    const found = await readBytes(this.#pathOf(digest), skillLimits.bytes);
    if (found.kind !== "bytes") return undefined;
    return found.bytes.length === size && hash("sha256", found.bytes) === digest ? found.bytes : undefined;
  }

  /** Keeps a verified file. Resolves also if that fails. */
  async keep({ digest }: SkillFile, bytes: Buffer): Promise<void> {
    try {
      await this.#write(this.#pathOf(digest), bytes);
      this.#unswept += bytes.length;
      if (this.#unswept > mostUnswept) await this.#sweep();
    } catch {
      // The next read asks the server again.
    }
  }

  async #write(path: string, content: string | Buffer): Promise<void> {
    const temporary = temporaryName(path);
    try {
      await ensurePrivateFolder(dirname(path));
      await writeFile(temporary, content, { flag: "wx", mode: privateFileMode });
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined);
      throw error;
    }
  }

  get #acceptedFile(): string {
    return join(this.#folder, "accepted.json");
  }

  #entryFile(id: string): string {
    return join(this.#folder, "entries", `${id}.json`);
  }

  get #files(): string {
    return join(this.#folder, "files");
  }

  #pathOf(digest: string): string {
    return join(this.#files, digest);
  }

  /** Removes the oldest files above the limit. */
  async #sweep(): Promise<void> {
    this.#unswept = 0;
    const files = await Promise.all(
      (await readdir(this.#files)).map(async (name) => {
        const path = join(this.#files, name);
        const stats = await stat(path).catch(unless("ENOENT"));
        return { path, changed: stats?.mtimeMs ?? 0, size: stats?.size ?? 0 };
      }),
    );
    let left = mostBytes;
    for (const { path, size } of files.sort((one, other) => other.changed - one.changed)) {
      left -= size;
      if (left < 0) await rm(path, { force: true });
    }
  }
}

/**
 * Removes what is kept of the skills of a server that was removed: with `workspace`, of the server in this folder,
 * otherwise of every server of this name.
 */
export async function removeSkills(state: string, server: string, workspace?: string): Promise<void> {
  const folder = workspace === undefined ? serverFolder(state, server) : ownFolder(state, { server, workspace });
  await rm(folder, { recursive: true, force: true });
}

/** The folder names the server, so that equal addresses of two servers have different folders. */
function serverFolder(state: string, server: string): string {
  return join(state, "server-skills", shortHash(server));
}

function ownFolder(state: string, { server, workspace, fingerprint }: DefinitionOwner): string {
  return join(serverFolder(state, server), shortHash(JSON.stringify([workspace, fingerprint])));
}

/** Identifies a URI in a file of bounded size. */
export function skillId(uri: string): string {
  return shortHash(uri);
}

function shortHash(text: string): string {
  return hash("sha256", text, "base64url").slice(0, 32);
}

/** An entry as a server sends it, so that it can be checked again when it is read. */
function toStored({ uri, frontmatter, files = [] }: Skill): object {
  const resources = files.map(({ uri: of, digest, size }) => ({ uri: of, digest: `sha256:${digest}`, size }));
  return { uri, frontmatter, resources };
}

function parse(value: unknown): AcceptedFile | undefined {
  return isAcceptedFile(value) ? value : undefined;
}

function isAcceptedFile(value: unknown): value is AcceptedFile {
  if (!isObject(value)) return false;
  const { version, server, skills }: Partial<Record<keyof AcceptedFile, unknown>> = value;
  return version === 1 && typeof server === "string" && Array.isArray(skills) && skills.every(isAcceptedSkill);
}

function isAcceptedSkill(value: unknown): value is AcceptedSkill {
  if (!isObject(value)) return false;
  const { id, name, digest }: Partial<Record<keyof AcceptedSkill, unknown>> = value;
  return [id, name, digest].every((each) => typeof each === "string") && /^[\w-]{32}$/.test(String(id));
}
