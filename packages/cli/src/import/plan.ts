/**
 * Finds the servers of other programs, and decides which of them to import. An import replaces an existing entry only
 * if the user asks for it.
 */

import { resolve } from "node:path";
import { isDeepStrictEqual, parseEnv } from "node:util";
import { isInside, readText } from "@fairlead/core/files";
import { limits } from "@fairlead/core/limits";
import type { Environment, Lookup } from "@fairlead/core/settings";
import { isObject, objectOf } from "@fairlead/wire/json";
import { type Conversion, convertServer } from "./convert.ts";
import { type ConversionContext, isVariableName, resolveVariableReferences } from "./field-reader.ts";
import { type ForeignFile, readForeignFile } from "./foreign-file.ts";
import type { ImportSource, Remark } from "./program.ts";

/** What an import does with one server, or why it leaves the server out. */
type ImportAction =
  | { readonly kind: "add" }
  | { readonly kind: "replace" }
  /** The target file has an equal entry. */
  | { readonly kind: "same" }
  /** The target file has a different entry with this name. */
  | { readonly kind: "exists" }
  /** An earlier server with this name has an equal entry. */
  | { readonly kind: "duplicate"; readonly of: ImportSource }
  /**
   * An earlier server with this name has a different entry, so this server gets a new name. The import adds it only if
   * the user gives the new name.
   */
  | { readonly kind: "clash"; readonly with: ImportSource }
  /** The entry cannot be imported. Its remarks say why. */
  | { readonly kind: "refused" }
  /** The entry belongs to an untrusted folder. The import adds it only if the user gives its name. */
  | { readonly kind: "untrusted" }
  | { readonly kind: "not-chosen" };

/** A server that was found, and what the import does with it. */
export interface PlannedServer extends ImportCandidate {
  /** The name that the server gets in the target file. */
  readonly target: string;
  readonly action: ImportAction;
}

/** The user's choices, and the entries that the target file already has. */
export interface PlanOptions {
  /** The entries of the target file, by name. */
  readonly existing: ReadonlyMap<string, unknown>;
  readonly replace: boolean;
  /** The names of the servers that the user wants to import. Absent if the user wants all. */
  readonly only?: ReadonlySet<string>;
  /** If false, the import adds a server of this file only if the user gives its name. */
  isTrusted(source: ImportSource): boolean;
}

/** Decides for each server what the import does. If two names are equal, the earlier server keeps the name. */
export function planImport(candidates: readonly ImportCandidate[], options: PlanOptions): readonly PlannedServer[] {
  const taken = new Map<string, ImportCandidate>();
  return candidates.map((candidate) => {
    const { name, source, conversion } = candidate;
    const as = (kind: "refused" | "untrusted" | "not-chosen"): PlannedServer => planned(candidate, name, { kind });
    if (conversion.remarks.some(({ kind }) => kind === "obstacle")) return as("refused");
    const first = taken.get(name);
    if (first && isDeepStrictEqual(first.conversion.entry, conversion.entry))
      return planned(candidate, name, { kind: "duplicate", of: first.source });
    if (first && !isThere(candidate, name, options)) return beside(first, candidate);
    if (!options.isTrusted(source) && !options.only?.has(name) && !isThere(candidate, name, options))
      return as("untrusted");
    taken.set(name, first ?? candidate);
    return options.only?.has(name) === false
      ? as("not-chosen")
      : planned(candidate, name, towards(candidate, name, options));
  });

  function beside(first: ImportCandidate, candidate: ImportCandidate): PlannedServer {
    const target = freeName(candidate, taken, options);
    taken.set(target, candidate);
    const isAsked = options.only?.has(target) || isThere(candidate, target, options);
    const action = isAsked ? towards(candidate, target, options) : ({ kind: "clash", with: first.source } as const);
    return planned(candidate, target, action);
  }
}

function planned(candidate: ImportCandidate, target: string, action: ImportAction): PlannedServer {
  return { ...candidate, target, action };
}

function towards(candidate: ImportCandidate, target: string, options: PlanOptions): ImportAction {
  if (!options.existing.has(target)) return { kind: "add" };
  if (isThere(candidate, target, options)) return { kind: "same" };
  return { kind: options.replace ? "replace" : "exists" };
}

function isThere({ conversion }: ImportCandidate, target: string, { existing }: PlanOptions): boolean {
  return existing.has(target) && isSameValue(existing.get(target), conversion.entry);
}

/**
 * Whether the values are equal. A `${secret:NAME}` in the existing value matches any text, because an earlier import
 * may have stored a secret.
 */
function isSameValue(existing: unknown, imported: unknown): boolean {
  if (typeof existing === "string" && typeof imported === "string") return isSameText(existing, imported);
  if (Array.isArray(existing) && Array.isArray(imported))
    return existing.length === imported.length && existing.every((one, at) => isSameValue(one, imported[at]));
  if (!isObject(existing) || !isObject(imported)) return isDeepStrictEqual(existing, imported);
  const names = Object.keys(existing);
  return (
    names.length === Object.keys(imported).length &&
    names.every((name) => Object.hasOwn(imported, name) && isSameValue(existing[name], imported[name]))
  );
}

function isSameText(existing: string, imported: string): boolean {
  const [first = "", ...others] = existing.split(/\$\{secret:[^}]*\}/);
  const last = others.at(-1);
  if (last === undefined) return existing === imported;
  return imported.length > first.length + last.length && imported.startsWith(first) && imported.endsWith(last);
}

/**
 * Finds a free name: `name-cursor`, then `name-cursor-2` and so on. A name is also free if the target file has an equal
 * entry with it.
 */
function freeName(
  candidate: ImportCandidate,
  taken: ReadonlyMap<string, ImportCandidate>,
  options: PlanOptions,
): string {
  const base = `${candidate.name}-${candidate.source.program}`;
  const isFree = (name: string): boolean =>
    !taken.has(name) && (!options.existing.has(name) || isThere(candidate, name, options));
  let name = base;
  for (let count = 2; !isFree(name); count += 1) name = `${base}-${count}`;
  return name;
}

interface CollectContext extends EnvFileContext {
  readonly target: ConversionContext["target"];
}

/** A server of another program, converted to a settings entry. */
export interface ImportCandidate {
  readonly name: string;
  readonly source: ImportSource;
  readonly conversion: Conversion;
}

/** The files that were read, and the servers found in them. */
export interface Collection {
  readonly files: readonly { readonly source: ImportSource; readonly file: ForeignFile }[];
  readonly candidates: readonly ImportCandidate[];
}

/** Reads the files and converts their servers. Keeps absent and broken files in `files`. */
export async function collect(sources: readonly ImportSource[], context: CollectContext): Promise<Collection> {
  const { environment, root } = context;
  const folders = [...new Set([root, environment.cwd])];
  const files = await Promise.all(
    sources.map(async (source) => ({ source, file: await readForeignFile(source, folders) })),
  );
  const candidates = files.flatMap(({ source, file }) =>
    file.kind === "read" ? convertAll(source, file, context) : [],
  );
  const withEnvFiles = candidates.map(async (candidate) => ({
    ...candidate,
    conversion: await convertEnvFile(candidate.conversion, candidate.source, context),
  }));
  return { files, candidates: await Promise.all(withEnvFiles) };
}

function convertAll(
  source: ImportSource,
  { servers, inputs }: Extract<ForeignFile, { kind: "read" }>,
  { environment, root, target }: CollectContext,
): readonly ImportCandidate[] {
  const { program } = source;
  return servers.map((server) => {
    const folder = server.folder ?? source.folder;
    const context = {
      program,
      platform: environment.platform,
      target,
      root,
      inputs,
      folder,
    };
    return { name: server.name, source, conversion: convertServer(server, context) };
  });
}

// Converts `envFile`: a name in the file becomes a reference if this variable has a value. Values are never copied.

/** What decides whether Fairlead may read an `envFile`, and which variables have values. */
interface EnvFileContext {
  readonly environment: Environment;
  readonly root: string;
  readonly trusted: boolean;
  /** Looks up a variable with the rules of the settings file that gets the new entry. */
  readonly lookup: Lookup;
}

/**
 * Adds references to the variables of the entry's `envFile` that have values to `env`, and remarks about the others.
 * Returns `conversion` unchanged if it has no `envFile`.
 */
async function convertEnvFile(
  conversion: Conversion,
  source: ImportSource,
  context: EnvFileContext,
): Promise<Conversion> {
  if (conversion.envFile === undefined) return conversion;
  const folder = source.folder ?? context.root;
  const file = resolve(folder, resolveVariableReferences(conversion.envFile, { ...context.environment, folder }));
  if (!mayRead(file, source, context)) {
    const next = folder === context.root ? "fairlead trust add" : undefined;
    return withRemarks(conversion, [dropped("is not read: it belongs to a folder that is not trusted", next)]);
  }
  const names = await namesIn(file);
  if (names === undefined) return withRemarks(conversion, [dropped(`cannot be read: ${file}`)]);
  const written = new Map(Object.entries(objectOf(conversion.entry["env"])));
  const missing = names.filter((name) => !written.has(name));
  const expandable = new Set(missing.filter((name) => isVariableName(name) && context.lookup(name) !== undefined));
  const env = new Map([...[...expandable].map((name) => [name, `\${${name}}`] as const), ...written]);
  const remarks = missing.map((name) => (expandable.has(name) ? referred(name, file) : notCopied(name, file)));
  const entry = env.size === 0 ? conversion.entry : { ...conversion.entry, env: Object.fromEntries(env) };
  return withRemarks({ ...conversion, entry }, remarks);
}

/**
 * Whether Fairlead may read the `.env` file. Fairlead reads a file of this workspace only if the workspace is trusted,
 * and never reads a file of another project.
 */
function mayRead(file: string, source: ImportSource, { root, trusted }: EnvFileContext): boolean {
  if (source.folder !== undefined) return source.folder === root && trusted;
  return trusted || !isInside(file, root);
}

/** The variable names in a `.env` file. Undefined if the file cannot be read. */
async function namesIn(file: string): Promise<readonly string[] | undefined> {
  const read = await readText(file, limits.settingsBytes);
  return read.kind === "text" ? Object.keys(parseEnv(read.text.replace(/^\uFEFF/, ""))) : undefined;
}

function dropped(message: string, next?: string): Remark {
  return { kind: "dropped", key: "envFile", message, next };
}

function referred(name: string, file: string): Remark {
  return {
    kind: "converted",
    key: `env.${name}`,
    message: `defined in ${file}; the entry refers to it as \${${name}}`,
  };
}

function notCopied(name: string, file: string): Remark {
  const message = `Fairlead does not copy the value from ${file}: store the value, then add "${name}": "\${secret:${name}}" to env`;
  return { kind: "dropped", key: `env.${name}`, message, next: `fairlead secret set ${name}` };
}

function withRemarks(conversion: Conversion, remarks: readonly Remark[]): Conversion {
  return { ...conversion, remarks: [...conversion.remarks, ...remarks] };
}
