/**
 * What Fairlead keeps on disk of one server's skills: the accepted entries, and verified files under their digests. The
 * folder belongs to the server, and is no folder in which a program looks for local skills.
 */

import { hash } from "node:crypto";
import { readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isObject } from "@fairlead/wire/json";
import { ensurePrivateFolder, privateFileMode } from "../files/atomic/private-folder.ts";
import { temporaryName } from "../files/atomic/replace-file.ts";
import { readState, updateState } from "../files/atomic/state-file.ts";
import { readBytes } from "../files/read-text.ts";
import { unless } from "../files/system-error.ts";
import type { DefinitionOwner } from "../server/accepted-definitions.ts";
import { isSkill, type Skill, type SkillFile, skillLimits, toSkill } from "./skill.ts";

/** The largest number of accepted entries of one server. The oldest ones are removed; Fairlead asks about them again. */
const mostAccepted = 1_000;
/** Bytes of verified files that are kept of one server. */
const mostBytes = 64 * 1024 * 1024;

/** An entry as the server sent it, so that it can be checked again when it is read. */
interface StoredEntry {
  readonly uri: string;
  readonly frontmatter: Skill["frontmatter"];
  readonly resources: readonly { readonly uri: string; readonly digest: string; readonly size: number }[];
}

interface AcceptedFile {
  readonly version: 1;
  readonly server: string;
  /** Newest last. */
  readonly skills: readonly StoredEntry[];
}

/** The folder of a server's skills on disk. Reads nothing until it is used. */
export class SkillStore {
  readonly #owner: DefinitionOwner;
  readonly #folder: string;

  /** @param state The folder of Fairlead's state files. */
  constructor(state: string, owner: DefinitionOwner) {
    this.#owner = owner;
    this.#folder = ownFolder(state, owner);
  }

  /** The accepted entries, by URI. */
  async accepted(): Promise<ReadonlyMap<string, Skill>> {
    return toSkills((await readState(this.#acceptedFile, parse))?.skills ?? []);
  }

  /** Replaces the accepted entry of this skill. Resolves with all accepted entries. */
  async accept(skill: Skill): Promise<ReadonlyMap<string, Skill>> {
    let skills: readonly StoredEntry[] = [];
    await updateState(this.#acceptedFile, parse, (before) => {
      const others = (before?.skills ?? []).filter(({ uri }) => uri !== skill.uri);
      skills = [...others, toStored(skill)].slice(-mostAccepted);
      const accepted: AcceptedFile = { version: 1, server: this.#owner.server, skills };
      return accepted;
    });
    return toSkills(skills);
  }

  /** The content of a verified file. Undefined if it is not kept, or no longer has its size and digest. */
  async read({ digest, size }: SkillFile): Promise<Buffer | undefined> {
    const found = await readBytes(this.#pathOf(digest), skillLimits.bytes);
    if (found.kind !== "bytes") return undefined;
    return found.bytes.length === size && hash("sha256", found.bytes) === digest ? found.bytes : undefined;
  }

  /** Keeps a verified file. A failure is ignored: the next read asks the server again. */
  async keep({ digest }: SkillFile, bytes: Buffer): Promise<void> {
    const path = this.#pathOf(digest);
    const temporary = temporaryName(path);
    try {
      await ensurePrivateFolder(this.#files);
      await writeFile(temporary, bytes, { flag: "wx", mode: privateFileMode });
      await rename(temporary, path);
      await this.#sweep();
    } catch {
      await rm(temporary, { force: true }).catch(() => undefined);
    }
  }

  get #acceptedFile(): string {
    return join(this.#folder, "accepted.json");
  }

  get #files(): string {
    return join(this.#folder, "files");
  }

  #pathOf(digest: string): string {
    return join(this.#files, digest);
  }

  /** Removes the oldest files above the limit. */
  async #sweep(): Promise<void> {
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

function shortHash(text: string): string {
  return hash("sha256", text, "base64url").slice(0, 32);
}

function toSkills(stored: readonly StoredEntry[]): ReadonlyMap<string, Skill> {
  return new Map(stored.map(toSkill).flatMap((skill) => (isSkill(skill) ? [[skill.uri, skill] as const] : [])));
}

function toStored({ uri, frontmatter, files = [] }: Skill): StoredEntry {
  const resources = files.map(({ uri: of, digest, size }) => ({ uri: of, digest: `sha256:${digest}`, size }));
  return { uri, frontmatter, resources };
}

function parse(value: unknown): AcceptedFile | undefined {
  return isAcceptedFile(value) ? value : undefined;
}

function isAcceptedFile(value: unknown): value is AcceptedFile {
  if (!isObject(value)) return false;
  const { version, server, skills }: Partial<Record<keyof AcceptedFile, unknown>> = value;
  return version === 1 && typeof server === "string" && Array.isArray(skills) && skills.every(isObject);
}
