/** A skill as a server lists it (SEP-2640): its entry, checked, with the digest that an approval is bound to. Pure. */

import { hash } from "node:crypto";
import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { canonicalJson } from "../text/canonical-json.ts";
import { sizeWords } from "../text/size-words.ts";

/** The identifier of the extension in a server's capabilities. */
export const skillsExtension = "io.modelcontextprotocol/skills";

/** One file of a skill. */
export interface SkillFile {
  readonly uri: string;
  /** The path below the skill's folder, such as `references/FORMS.md`. */
  readonly path: string;
  /** SHA-256 of the content, as 64 hexadecimal digits. */
  readonly digest: string;
  /** Bytes of the content. */
  readonly size: number;
}

/**
 * The entry of one skill. A skill is identified by its server and its `uri`; its name is only a label. Texts are not
 * escaped.
 */
export interface Skill {
  /** The URI of the skill's `SKILL.md`. */
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  /** The frontmatter of `SKILL.md`, as the server claims it. */
  readonly frontmatter: JsonObject;
  /** All files. Undefined if the server generates them (`dynamic`), so that nothing can be verified. */
  readonly files: readonly SkillFile[] | undefined;
  /** SHA-256 of the entry: of its URI, frontmatter and all (uri, digest). Undefined if the files are dynamic. */
  readonly digest: string | undefined;
}

/** Limits of a skill. A host must support skills up to the limits for files and bytes. */
export const skillLimits: Readonly<Record<"files" | "bytes" | "uri" | "name" | "description" | "frontmatter", number>> =
  {
    files: 512,
    bytes: 16 * 1024 * 1024,
    /** The longest URI, in characters. */
    uri: 4096,
    /** The longest name, in characters, as the Agent Skills specification says. */
    name: 64,
    /** The longest description, in characters. The specification allows 1024. */
    description: 4096,
    /** The largest frontmatter, in bytes of JSON or YAML. */
    frontmatter: 65_536,
  };

/** The file with the instructions of a skill. */
export const instructionsFile = "SKILL.md";

/** Whether the server declares the extension. Its methods must not be sent otherwise. */
export function declaresSkills(capabilities: JsonObject): boolean {
  return skillsCapability(capabilities) !== undefined;
}

/** Whether the server supports `resources/directory/read`. */
export function readsDirectories(capabilities: JsonObject): boolean {
  return skillsCapability(capabilities)?.["directoryRead"] === true;
}

function skillsCapability({ extensions }: JsonObject): JsonObject | undefined {
  const declared = isObject(extensions) ? extensions[skillsExtension] : undefined;
  return isObject(declared) ? declared : undefined;
}

/** Checks an entry of `skills/list` or `skills/get`. Returns the reason if the skill cannot be used. */
export function toSkill(entry: unknown): Skill | { readonly reason: string } {
  if (!isObject(entry)) return { reason: "the entry is not an object" };
  const { uri, frontmatter, resources } = entry;
  if (!isUri(uri)) return { reason: "its uri is missing or invalid" };
  if (!isObject(frontmatter)) return { reason: "it has no frontmatter" };
  const { name, description } = frontmatter;
  if (typeof name !== "string" || !isName(name)) return { reason: "its name is missing or invalid" };
  if (typeof description !== "string" || description.trim() === "" || description.length > skillLimits.description)
    return { reason: `its description is missing or longer than ${skillLimits.description} characters` };
  if (Buffer.byteLength(JSON.stringify(frontmatter)) > skillLimits.frontmatter)
    return { reason: `its frontmatter is larger than ${sizeWords(skillLimits.frontmatter)}` };
  if (!uri.endsWith(`/${instructionsFile}`)) return { reason: `its uri does not end with /${instructionsFile}` };
  if (decoded(skillPath(uri).split("/").at(-1) ?? "") !== name)
    return { reason: "its name differs from the last folder of its uri" };
  const entryOf = (files: Skill["files"]): Skill => ({
    uri,
    name,
    description,
    frontmatter,
    files,
    digest: files && digestOf(uri, frontmatter, files),
  });
  if (resources === "dynamic") return entryOf(undefined);
  const files = toFiles(uri, resources);
  return typeof files === "string" ? { reason: files } : entryOf(files);
}

/** Whether `toSkill` accepted the entry. */
export function isSkill(entry: Skill | { readonly reason: string }): entry is Skill {
  return !("reason" in entry);
}

/** The path of a skill in its server, without scheme and file, such as `acme/billing/refunds`. */
export function skillPath(uri: string): string {
  return uri.slice(uri.indexOf("://") + 3, -`/${instructionsFile}`.length);
}

/** The address of the skill's folder, with a slash at the end. */
export function skillFolder({ uri }: Pick<Skill, "uri">): string {
  return uri.slice(0, -instructionsFile.length);
}

/** The file with this path or URI. Undefined if the skill does not list it. */
export function fileOf({ files }: Skill, wanted: string): SkillFile | undefined {
  return files?.find(({ path, uri }) => path === wanted || uri === wanted);
}

/**
 * The same text for addresses that a server may take for the same one: they differ in case, in escapes, or in parts such
 * as `.` and `..`.
 */
export function plainAddress(uri: string): string {
  const [, scheme = "", rest = ""] = /^([^:]*:\/\/)(.*)$/s.exec(uri) ?? [];
  const parts: string[] = [];
  const plain = rest.replaceAll(/%[0-9a-f]{2}/gi, (escaped) =>
    String.fromCharCode(Number.parseInt(escaped.slice(1), 16)),
  );
  for (const part of plain.replaceAll("\\", "/").split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `${scheme}${parts.join("/")}`.toLowerCase().normalize();
}

/** Bytes of all files together. Undefined if the files are dynamic. */
export function skillBytes({ files }: Skill): number | undefined {
  return files?.reduce((sum, { size }) => sum + size, 0);
}

/** Members of the frontmatter that would give the skill rights or run programs. Fairlead gives them no effect. */
export function ignoredMembers({ frontmatter }: Skill): readonly string[] {
  return ["allowed-tools", "hooks", "scripts"].filter((member) => frontmatter[member] !== undefined);
}

/** How a skill differs from its accepted entry: its address, members of the frontmatter, then files. */
export function skillDifference(before: Skill, after: Skill): readonly SkillDifference[] {
  return [
    ...differences("", new Map([["uri", before.uri]]), new Map([["uri", after.uri]])),
    ...differences("frontmatter.", textsOf(before.frontmatter), textsOf(after.frontmatter)),
    ...differences("", filesOf(before), filesOf(after)),
  ];
}

/** How a skill differs from an accepted entry of which only the digest is known. */
export function unknownDifference(before: string, after: Skill): readonly SkillDifference[] {
  const words = (digest: string): string => (/^[0-9a-f]{64}$/.test(digest) ? `sha256 ${digest.slice(0, 16)}` : digest);
  return [
    { member: "entry", before: words(before), after: words(after.digest ?? "dynamic") },
    ...differences("", new Map(), filesOf(after)),
  ];
}

/** A changed member or file of a skill. A new one has no `before`, a removed one has no `after`. */
export interface SkillDifference {
  readonly member: string;
  readonly before?: string;
  readonly after?: string;
}

/** The size and digest of a file, as people see them. */
export function fileWords({ size, digest }: Pick<SkillFile, "size" | "digest">): string {
  return `${sizeWords(size)}, sha256 ${digest.slice(0, 16)}`;
}

function filesOf({ files }: Skill): ReadonlyMap<string, string> {
  if (files === undefined) return new Map([["files", "dynamic"]]);
  return new Map(files.map((file) => [file.path, fileWords(file)]));
}

function textsOf(members: JsonObject): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(members).map(([name, value]) => [name, typeof value === "string" ? value : canonicalJson(value)]),
  );
}

function differences(
  prefix: string,
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly SkillDifference[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((name) => {
    const [was, is] = [before.get(name), after.get(name)];
    if (was === is) return [];
    return [{ member: `${prefix}${name}`, before: was, after: is }];
  });
}

/** Checks the list of files. Returns the reason if it cannot be used. */
function toFiles(skillUri: string, resources: unknown): readonly SkillFile[] | string {
  if (!Array.isArray(resources)) return "it has no list of files";
  if (resources.length > skillLimits.files)
    return `it has ${resources.length} files; the limit is ${skillLimits.files}`;
  const folder = skillFolder({ uri: skillUri });
  const files = new Map<string, SkillFile>();
  let bytes = 0;
  for (const resource of resources as readonly unknown[]) {
    const { uri, digest, size } = isObject(resource) ? resource : {};
    if (!isUri(uri)) return "a file has no valid uri";
    const path = uri.startsWith(folder) ? decoded(uri.slice(folder.length)) : undefined;
    if (path === undefined) return `its file ${uri.slice(0, 200)} is outside the skill's folder`;
    if (!isFilePath(path)) return `its file ${uri.slice(0, 200)} has no valid path`;
    if (typeof digest !== "string" || !/^sha256:[0-9a-f]{64}$/.test(digest)) return `its file ${path} has no digest`;
    if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 0) return `its file ${path} has no size`;
    if (files.has(path)) return `its file ${path} is listed twice`;
    bytes += size;
    files.set(path, { uri, path, digest: digest.slice("sha256:".length), size });
  }
  if (bytes > skillLimits.bytes)
    return `its files have ${sizeWords(bytes)} together; the limit is ${sizeWords(skillLimits.bytes)}`;
  if (files.get(instructionsFile)?.uri !== skillUri) return `it does not list its ${instructionsFile}`;
  const folders = new Set([...files.keys()].flatMap(foldersOf));
  const both = [...files.keys()].find((path) => folders.has(path));
  if (both !== undefined) return `its file ${both} is also a folder`;
  return [...files.values()];
}

/** The folders above a file: `a` and `a/b` of `a/b/c`. */
function foldersOf(path: string): readonly string[] {
  const parts = path.split("/");
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join("/"));
}

function digestOf(uri: string, frontmatter: JsonObject, files: readonly SkillFile[]): string {
  const digests = files.map((file) => [file.uri, file.digest] as const);
  // The order in which a server lists its files means nothing.
  const sorted = digests.sort(([one], [other]) => (one < other ? -1 : 1));
  return hash("sha256", canonicalJson([uri, frontmatter, sorted]));
}

function isUri(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value.length <= skillLimits.uri &&
    /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^\s\p{C}\\?#]+$/u.test(value)
  );
}

function isName(name: string): boolean {
  return name.length <= skillLimits.name && /^[\p{L}\p{N}][\p{L}\p{N}._-]*$/u.test(name);
}

/** Whether the path names a file below a folder, on every system. */
export function isFilePath(path: string): boolean {
  return (
    path.length <= 1024 &&
    path.split("/").every((part) => part !== "" && part !== "." && part !== ".." && !/[\p{C}\\:*?"<>|]/u.test(part))
  );
}

/** The text without percent escapes. Undefined if they are invalid. */
export function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
