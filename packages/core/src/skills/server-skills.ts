/**
 * The skills of one server: the entries that the host holds, those that the user has accepted, and verified reads of
 * their files.
 */

import { hash } from "node:crypto";
import type { JsonObject, McpRequestOptions } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { HostError } from "../errors.ts";
import { toShellWord } from "../text/shell-word.ts";
import { sizeWords } from "../text/size-words.ts";
import { differingMember, parseInstructions } from "./frontmatter.ts";
import {
  declaresSkills,
  fileOf,
  instructionsFile,
  isFilePath,
  isSkill,
  type Skill,
  type SkillFile,
  skillFolder,
  skillLimits,
  skillPath,
  toSkill,
} from "./skill.ts";
import type { SkillStore } from "./skill-store.ts";

/** The connection that skills are read from. */
export interface SkillSource {
  readonly capabilities: JsonObject;
  readonly request: (
    what: string,
    method: string,
    params: JsonObject,
    options?: McpRequestOptions,
  ) => Promise<JsonObject>;
}

/** The content of a skill's file, which equals the entry that the host holds. */
export interface VerifiedFile {
  readonly path: string;
  readonly uri: string;
  readonly bytes: Buffer;
  /** The server's answer. Absent if a verified copy on disk was used. */
  readonly answer?: JsonObject;
}

/** The error for a file that differs from its entry. Its content is not used. */
export class SkillMismatch extends HostError {
  readonly reason: "unlisted" | "size" | "digest" | "frontmatter" | "entry";

  constructor(serverName: string, { uri, name }: Skill, reason: SkillMismatch["reason"], detail: string) {
    super("changed", `skill ${name} of "${serverName}" was not used: ${detail}`, {
      serverName,
      next: `fairlead skills show ${toShellWord(`${serverName}/${uri}`)}`,
    });
    this.reason = reason;
  }
}

/** The skills of one server. */
export class ServerSkills {
  readonly #server: string;
  readonly #listed: () => readonly Skill[];
  readonly #store: SkillStore | undefined;
  /** Entries of `skills/get`, which are newer than the list that they were requested after. */
  #fetched: { readonly after: readonly Skill[]; readonly skills: Map<string, Skill> } | undefined;
  #accepted: ReadonlyMap<string, Skill> = new Map();
  #loading: Promise<void> | undefined;

  /**
   * @param listed The skills in the server's catalog.
   * @param store Undefined if nothing may be kept on disk.
   */
  constructor(server: string, listed: () => readonly Skill[], store: SkillStore | undefined) {
    this.#server = server;
    this.#listed = listed;
    this.#store = store;
  }

  /** The newest entries that the host holds. */
  all(): readonly Skill[] {
    const fetched = this.#current();
    if (fetched.size === 0) return this.#listed();
    const listed = this.#listed().map((skill) => fetched.get(skill.uri) ?? skill);
    const unlisted = [...fetched.values()].filter(({ uri }) => !listed.some((skill) => skill.uri === uri));
    return [...listed, ...unlisted];
  }

  get(uri: string): Skill | undefined {
    return this.#current().get(uri) ?? this.#listed().find((skill) => skill.uri === uri);
  }

  /**
   * The skills with this name, path (such as `acme/billing/refunds`) or URI. Several if the server uses a name more than
   * once.
   */
  named(name: string): readonly Skill[] {
    const all = this.all();
    const exact = all.filter(({ uri }) => uri === name || skillPath(uri) === name);
    return exact.length > 0 ? exact : all.filter((skill) => skill.name === name);
  }

  /** The skill whose list of files has this URI. */
  owning(uri: string): Skill | undefined {
    const skills = this.all();
    return skills.find((skill) => skill.uri === uri) ?? skills.find((skill) => holds(skill, uri));
  }

  /** The skill in whose folder this address is: of one of its files, or of a folder. The innermost one. */
  around(uri: string): Skill | undefined {
    const [nearest] = this.all()
      .filter((skill) => `${uri}/`.startsWith(skillFolder(skill)))
      .sort((one, other) => other.uri.length - one.uri.length);
    return nearest;
  }

  /** The entry that the user has accepted. Known after `load`. */
  accepted(uri: string): Skill | undefined {
    return this.#accepted.get(uri);
  }

  /** Whether the entry differs from the accepted one. */
  isChanged({ uri, digest }: Skill): boolean {
    const accepted = this.#accepted.get(uri);
    return accepted !== undefined && accepted.digest !== digest;
  }

  /** Reads the accepted entries from disk, once. */
  load(): Promise<void> {
    this.#loading ??= (this.#store?.accepted() ?? Promise.resolve(new Map<string, Skill>())).then((accepted) => {
      this.#accepted = new Map([...accepted, ...this.#accepted]);
    });
    return this.#loading;
  }

  /** Makes this entry the accepted one. An entry with dynamic files cannot be accepted. */
  async accept(skill: Skill): Promise<void> {
    if (skill.digest === undefined || this.#accepted.get(skill.uri)?.digest === skill.digest) return;
    this.#accepted = new Map([...this.#accepted, [skill.uri, skill]]);
    await this.#store?.accept(skill);
  }

  /**
   * Gets the entry of a skill from the server, and holds it from now on.
   *
   * @throws HostError `not_found` if the server has no such skill, `protocol` if its entry cannot be used
   */
  async fetch(source: SkillSource, uri: string, options?: McpRequestOptions): Promise<Skill> {
    const serverName = this.#server;
    if (!declaresSkills(source.capabilities))
      throw new HostError("not_found", `"${serverName}" has no skills`, { serverName });
    const { skill } = await source.request(`skill ${uri} of ${serverName}`, "skills/get", { uri }, options);
    const entry = toSkill(skill);
    const problem = isSkill(entry) ? entry.uri !== uri && "the server sent the entry of another skill" : entry.reason;
    if (!isSkill(entry) || problem !== false)
      throw new HostError("protocol", `skill ${uri} of "${serverName}" cannot be used: ${String(problem)}`, {
        serverName,
      });
    const skills = this.#current();
    skills.set(uri, entry);
    this.#fetched = { after: this.#listed(), skills };
    return entry;
  }

  /**
   * Reads a file of a skill and compares it with the entry: size, digest, and for `SKILL.md` the frontmatter. Uses a
   * verified copy on disk, if there is one.
   *
   * @throws SkillMismatch if the file is not listed or differs; its content is then not used
   */
  async read(source: SkillSource, skill: Skill, path: string, options?: McpRequestOptions): Promise<VerifiedFile> {
    const file = this.#fileOf(skill, path);
    const kept = file.digest === undefined ? undefined : await this.#store?.read(file);
    if (kept !== undefined) return { path: file.path, uri: file.uri, bytes: kept };
    const answer = await this.#request(source, skill, file, options);
    const bytes = contentOf(answer);
    if (bytes === undefined) throw this.#mismatch(skill, "size", `${file.path} has no content`);
    await this.#verify(skill, file, bytes);
    if (file.digest !== undefined) await this.#store?.keep(file, bytes);
    return { path: file.path, uri: file.uri, bytes, answer };
  }

  /** Throws if the content of a file differs from its entry. */
  async #verify(skill: Skill, file: ReadFile, bytes: Buffer): Promise<void> {
    const { path } = file;
    if (file.digest !== undefined && bytes.length !== file.size)
      throw this.#mismatch(skill, "size", `${path} has ${bytes.length} bytes; its entry says ${file.size}`);
    if (bytes.length > skillLimits.bytes)
      throw this.#mismatch(skill, "size", `${path} is larger than ${sizeWords(skillLimits.bytes)}`);
    if (file.digest !== undefined && hash("sha256", bytes) !== file.digest)
      throw this.#mismatch(skill, "digest", `${path} differs from the digest in its entry`);
    if (path !== instructionsFile) return;
    const instructions = await parseInstructions(bytes.toString("utf8"));
    const member =
      instructions === undefined ? "all of it" : differingMember(instructions.frontmatter, skill.frontmatter);
    if (member !== undefined)
      throw this.#mismatch(skill, "frontmatter", `the frontmatter of ${path} differs from its entry (${member})`);
  }

  async #request(source: SkillSource, skill: Skill, file: ReadFile, options?: McpRequestOptions): Promise<JsonObject> {
    // JSON may need six characters for one byte.
    const maxBytes = 6 * (file.digest === undefined ? skillLimits.bytes : file.size) + 65_536;
    const what = `${file.uri} of ${this.#server}`;
    try {
      return await source.request(what, "resources/read", { uri: file.uri }, { ...options, maxBytes });
    } catch (error) {
      if (!(error instanceof HostError) || error.code !== "too_large") throw error;
      throw this.#mismatch(skill, "size", `${file.path} is larger than its entry says`);
    }
  }

  #fileOf(skill: Skill, path: string): ReadFile {
    if (skill.files === undefined) {
      if (!isFilePath(path)) throw this.#mismatch(skill, "unlisted", `${path.slice(0, 200)} is not one of its files`);
      const uri = skillFolder(skill) + path.split("/").map(encodeURIComponent).join("/");
      return { path, uri: path === instructionsFile ? skill.uri : uri };
    }
    const file = fileOf(skill, path);
    if (file !== undefined) return file;
    throw this.#mismatch(skill, "unlisted", `${path.slice(0, 200)} is not one of its files`);
  }

  #mismatch(skill: Skill, reason: SkillMismatch["reason"], detail: string): SkillMismatch {
    return new SkillMismatch(this.#server, skill, reason, detail);
  }

  /** The entries of `skills/get` that are newer than the list. */
  #current(): Map<string, Skill> {
    if (this.#fetched?.after !== this.#listed()) this.#fetched = undefined;
    return this.#fetched?.skills ?? new Map<string, Skill>();
  }
}

/** A file to read. A file of a dynamic skill has no digest. */
type ReadFile = SkillFile | { readonly path: string; readonly uri: string; readonly digest?: undefined };

function holds({ files = [] }: Skill, uri: string): boolean {
  return files.some((file) => file.uri === uri);
}

/** The content in the answer to `resources/read`. Undefined if there is not exactly one. */
function contentOf({ contents }: JsonObject): Buffer | undefined {
  const [content, ...others] = Array.isArray(contents) ? (contents as readonly unknown[]) : [];
  if (!isObject(content) || others.length > 0) return undefined;
  const { text, blob } = content;
  if (typeof text === "string") return Buffer.from(text, "utf8");
  return typeof blob === "string" ? Buffer.from(blob, "base64") : undefined;
}
