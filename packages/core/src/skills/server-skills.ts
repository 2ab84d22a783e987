/**
 * The skills of one server: the entries that the host holds, those that the user has accepted, and verified reads of
 * their files.
 */

import { hash } from "node:crypto";
import type { JsonObject, McpRequestOptions } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { errorMessage } from "@fairlead/wire/text";
import { HostError } from "../errors.ts";
import { canonicalJson } from "../text/canonical-json.ts";
import { groupBy } from "../text/group-by.ts";
import { toShellWord } from "../text/shell-word.ts";
import { sizeWords } from "../text/size-words.ts";
import { differingMember, parseInstructions } from "./frontmatter.ts";
import {
  declaresSkills,
  decoded,
  fileOf,
  instructionsFile,
  isFilePath,
  isSkill,
  plainAddress,
  type Skill,
  type SkillDifference,
  type SkillFile,
  skillDifference,
  skillFolder,
  skillLimits,
  skillPath,
  toSkill,
  unknownDifference,
} from "./skill.ts";
import { type AcceptedSkill, type SkillStore, skillId } from "./skill-store.ts";

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

/** What an address means: a file of a skill, or something in its folder that is none of its files. */
export interface SkillAddress {
  readonly skill: Skill;
  /** The path or URI of the file, for `read`. */
  readonly file: string;
}

/** The entries that the host holds. */
interface Held {
  /** The catalog's list and the entries of `skills/get` that this was made from. */
  readonly listed: readonly Skill[];
  readonly fetched: ReadonlyMap<string, Skill>;
  readonly all: readonly Skill[];
  readonly byUri: ReadonlyMap<string, Skill>;
  readonly byName: ReadonlyMap<string, readonly Skill[]>;
}

const none: ReadonlyMap<string, Skill> = new Map();
/** The largest number of entries of `skills/get` that are held. */
const mostFetched = 1_000;

/** The skills of one server. */
export class ServerSkills {
  readonly #server: string;
  readonly #listed: () => readonly Skill[];
  readonly #store: SkillStore | undefined;
  readonly #lockDrift: (skill: Skill) => readonly SkillDifference[] | undefined;
  /** Entries of `skills/get`, which are newer than the list that they were requested after. */
  #fetched: { readonly after: readonly Skill[]; readonly skills: ReadonlyMap<string, Skill> } | undefined;
  #held: Held | undefined;
  /** The skills by the plain addresses of their folders. */
  #folders: { readonly of: Held; readonly skills: ReadonlyMap<string, Skill> } | undefined;
  /** The accepted entries, by the id of their URI, oldest first. */
  #accepted: ReadonlyMap<string, AcceptedSkill> = new Map();
  /** The whole accepted entries, as far as a difference was or can be shown. */
  readonly #entries = new Map<AcceptedSkill, Skill>();
  #loading: Promise<void> | undefined;
  #whyUnsaved: string | undefined;
  /** Differences from the lock file that the user has accepted in this run, by the URI of the skill. */
  readonly #unlocked = new Map<string, string>();

  /**
   * @param listed The skills in the server's catalog.
   * @param store Undefined if nothing may be kept on disk.
   * @param lockDrift Returns how a skill differs from the lock file that applies now.
   */
  constructor(
    server: string,
    listed: () => readonly Skill[],
    store: SkillStore | undefined,
    lockDrift: (skill: Skill) => readonly SkillDifference[] | undefined = () => undefined,
  ) {
    this.#server = server;
    this.#listed = listed;
    this.#store = store;
    this.#lockDrift = lockDrift;
  }

  /** The newest entries that the host holds. */
  all(): readonly Skill[] {
    return this.#hold().all;
  }

  get(uri: string): Skill | undefined {
    return this.#hold().byUri.get(uri);
  }

  /**
   * The skills with this name, path (such as `acme/billing/refunds`) or URI. Several if the server uses a name more than
   * once.
   */
  named(name: string): readonly Skill[] {
    const { all, byName, byUri } = this.#hold();
    const own = byUri.get(name);
    if (own !== undefined) return [own];
    const exact = all.filter(({ uri }) => skillPath(uri) === name);
    return exact.length > 0 ? exact : (byName.get(name) ?? []);
  }

  /** Whether the server uses the skill's name for another skill, too. */
  sharesName({ name }: Pick<Skill, "name">): boolean {
    return (this.#hold().byName.get(name)?.length ?? 0) > 1;
  }

  /**
   * The skill that an address belongs to: it lists the file, or the address is in its folder, also in another spelling.
   * The innermost one, if folders contain each other.
   */
  at(uri: string): SkillAddress | undefined {
    const { all, byUri } = this.#hold();
    const own = byUri.get(uri);
    if (own !== undefined) return { skill: own, file: instructionsFile };
    for (const skill of all) {
      const file = uri.startsWith(skillFolder(skill)) ? fileOf(skill, uri) : undefined;
      if (file !== undefined) return { skill, file: file.path };
    }
    const nearest = this.around(uri);
    return nearest && { skill: nearest, file: uri };
  }

  /** The innermost skill in whose folder this address is: that of a file, or of a folder. */
  around(uri: string): Skill | undefined {
    const held = this.#hold();
    if (this.#folders?.of !== held)
      this.#folders = { of: held, skills: new Map(held.all.map((skill) => [plainAddress(skillFolder(skill)), skill])) };
    const { skills } = this.#folders;
    const plain = plainAddress(uri);
    for (let end = plain.length; end > 0; end = plain.lastIndexOf("/", end - 1)) {
      const skill = skills.get(plain.slice(0, end));
      if (skill !== undefined) return skill;
    }
    return undefined;
  }

  /**
   * The digest of the accepted entry that this one is compared with: of the same URI, or of the skill that had this name
   * before the server moved it. Undefined if there is none. Known after `load`.
   */
  acceptedDigest(skill: Skill): string | undefined {
    return this.#acceptedFor(skill)?.digest;
  }

  /** Whether the entry differs from the accepted one. */
  isChanged(skill: Skill): boolean {
    const accepted = this.#acceptedFor(skill);
    return accepted !== undefined && accepted.digest !== skill.digest;
  }

  /**
   * How the entry differs from the accepted one, or from the lock file. Undefined if it does not, or if the user has
   * accepted the difference. Shows the accepted files only after `loadAccepted`.
   */
  changeOf(skill: Skill): readonly SkillDifference[] | undefined {
    const accepted = this.#acceptedFor(skill);
    const drift = this.#lockDrift(skill);
    if (accepted === undefined || accepted.digest === skill.digest)
      return drift !== undefined && this.#unlocked.get(skill.uri) !== canonicalJson(drift) ? drift : undefined;
    const entry = this.#entries.get(accepted);
    return entry === undefined ? unknownDifference(accepted.digest, skill) : skillDifference(entry, skill);
  }

  /** Whether the skill differs from the lock file. An approval for it then cannot be saved. */
  isLockedOut(skill: Skill): boolean {
    return this.#lockDrift(skill) !== undefined;
  }

  /** Reads what was accepted from disk, once. */
  load(): Promise<void> {
    this.#loading ??= (this.#store?.accepted() ?? Promise.resolve([])).then((accepted) => {
      this.#accepted = new Map([...accepted.map((each) => [each.id, each] as const), ...this.#accepted]);
    });
    return this.#loading;
  }

  /** Reads the whole accepted entry of a skill that has changed, so that the difference can be shown. */
  async loadAccepted(skill: Skill): Promise<void> {
    await this.load();
    const accepted = this.#acceptedFor(skill);
    if (accepted === undefined || !this.isChanged(skill) || this.#entries.has(accepted)) return;
    const entry = await this.#store?.entryOf(accepted);
    if (entry !== undefined) this.#entries.set(accepted, entry);
  }

  /** Why the last accepted entry could not be saved; it is accepted in this run only. Undefined if it was saved. */
  get whyUnsaved(): string | undefined {
    return this.#whyUnsaved;
  }

  /** Makes this entry the accepted one, also if it differs from the lock file. */
  accept(skill: Skill): Promise<void> {
    const drift = this.#lockDrift(skill);
    if (drift !== undefined) this.#unlocked.set(skill.uri, canonicalJson(drift));
    return this.remember(skill);
  }

  /**
   * Makes this entry the one that later ones are compared with. An entry with dynamic files cannot be. Resolves also if
   * saving fails.
   */
  async remember(skill: Skill): Promise<void> {
    const { uri, name, digest } = skill;
    const id = skillId(uri);
    if (digest === undefined || this.#accepted.get(id)?.digest === digest) return;
    const accepted = { id, name, digest };
    this.#accepted = new Map([...[...this.#accepted].filter(([other]) => other !== id), [id, accepted]]);
    this.#entries.set(accepted, skill);
    this.#whyUnsaved = await this.#store?.accept(accepted, skill).then(
      () => undefined,
      (error: unknown) => errorMessage(error),
    );
  }

  /**
   * Holds the entry of a skill that the server has sent in answer to `skills/get`.
   *
   * @throws HostError `protocol` if the entry cannot be used
   */
  hold(uri: string, { skill }: JsonObject): Skill {
    const entry = toSkill(skill);
    const problem = isSkill(entry) ? entry.uri !== uri && "the server sent the entry of another skill" : entry.reason;
    if (!isSkill(entry) || problem !== false)
      throw new HostError("protocol", `skill ${uri} of "${this.#server}" cannot be used: ${String(problem)}`, {
        serverName: this.#server,
      });
    const others = [...this.#fetchedNow()].filter(([other]) => other !== uri);
    this.#fetched = { after: this.#listed(), skills: new Map([...others.slice(1 - mostFetched), [uri, entry]]) };
    return entry;
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
    return this.hold(uri, await source.request(`skill ${uri} of ${serverName}`, "skills/get", { uri }, options));
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

  /**
   * The path of a file, from its path or URI.
   *
   * @throws SkillMismatch if the skill has no such file
   */
  pathOf(skill: Skill, file: string): string {
    return this.#fileOf(skill, file).path;
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
    const file = skill.files === undefined ? dynamicFile(skill, path) : fileOf(skill, path);
    if (file !== undefined) return file;
    throw this.#mismatch(skill, "unlisted", `${path.slice(0, 200)} is not one of its files`);
  }

  #mismatch(skill: Skill, reason: SkillMismatch["reason"], detail: string): SkillMismatch {
    return new SkillMismatch(this.#server, skill, reason, detail);
  }

  #acceptedFor({ uri, name }: Skill): AcceptedSkill | undefined {
    if (this.#accepted.size === 0) return undefined;
    const own = this.#accepted.get(skillId(uri));
    if (own !== undefined) return own;
    const offered = new Set(
      this.#hold()
        .byName.get(name)
        ?.map((each) => skillId(each.uri)),
    );
    return [...this.#accepted.values()].findLast((each) => each.name === name && !offered.has(each.id));
  }

  #hold(): Held {
    const [listed, fetched] = [this.#listed(), this.#fetchedNow()];
    if (this.#held?.listed !== listed || this.#held.fetched !== fetched) {
      const all = [...new Map([...listed, ...fetched.values()].map((skill) => [skill.uri, skill])).values()];
      const byUri = new Map(all.map((skill) => [skill.uri, skill]));
      this.#held = { listed, fetched, all, byUri, byName: groupBy(all, ({ name }) => name) };
    }
    return this.#held;
  }

  /** The entries of `skills/get` that are newer than the list. */
  #fetchedNow(): ReadonlyMap<string, Skill> {
    if (this.#fetched?.after !== this.#listed()) this.#fetched = undefined;
    return this.#fetched?.skills ?? none;
  }
}

/** A file to read. A file of a dynamic skill has no digest. */
type ReadFile = SkillFile | { readonly path: string; readonly uri: string; readonly digest?: undefined };

/** A file of a skill with dynamic files: any path or URI below its folder. */
function dynamicFile(skill: Skill, wanted: string): ReadFile | undefined {
  const folder = skillFolder(skill);
  const isUri = wanted.startsWith(folder);
  const path = isUri ? decoded(wanted.slice(folder.length)) : wanted;
  if (path === undefined || !isFilePath(path)) return undefined;
  if (path === instructionsFile) return { path, uri: skill.uri };
  return { path, uri: isUri ? wanted : folder + path.split("/").map(encodeURIComponent).join("/") };
}

/** The content in the answer to `resources/read`. Undefined if there is not exactly one. */
function contentOf({ contents }: JsonObject): Buffer | undefined {
  const [content, ...others] = Array.isArray(contents) ? (contents as readonly unknown[]) : [];
  if (!isObject(content) || others.length > 0) return undefined;
  const { text, blob } = content;
  if (typeof text === "string") return Buffer.from(text, "utf8");
  return typeof blob === "string" ? Buffer.from(blob, "base64") : undefined;
}
