/**
 * Collects the servers of other programs, and decides for each whether it is imported. An import replaces an existing
 * entry only if the user asks for this.
 */

import { isDeepStrictEqual } from "node:util";
import { isObject } from "@fairlead/wire/json";
import { type Conversion, convertServer } from "./convert.ts";
import { convertEnvFile, type EnvFileContext } from "./env-file.ts";
import type { ConversionContext } from "./field-reader.ts";
import { type ForeignFile, readForeignFile } from "./foreign-file.ts";
import type { ImportSource } from "./program.ts";

export type ImportAction =
  | { readonly kind: "add" }
  | { readonly kind: "replace" }
  /** The target file has an equal entry. */
  | { readonly kind: "same" }
  /** The target file has a different entry with this name. */
  | { readonly kind: "exists" }
  /** A file that was read earlier has an equal entry with this name. */
  | { readonly kind: "duplicate"; readonly of: ImportSource }
  /**
   * A file that was read earlier has a different entry with this name, so this entry gets a new name. It is imported
   * only if the user gives the new name.
   */
  | { readonly kind: "clash"; readonly with: ImportSource }
  /** The entry cannot be imported. Its remarks say why. */
  | { readonly kind: "refused" }
  /** The entry belongs to an untrusted folder, so it is imported only if the user gives its name. */
  | { readonly kind: "untrusted" }
  | { readonly kind: "not-chosen" };

export interface PlannedServer extends ImportCandidate {
  /** The name that the server gets in the target file. */
  readonly target: string;
  readonly action: ImportAction;
}

export interface PlanOptions {
  /** The entries of the target file, by name. */
  readonly existing: ReadonlyMap<string, unknown>;
  readonly replace: boolean;
  /** The names of the servers that the user wants to import. Absent if the user wants all. */
  readonly only?: ReadonlySet<string>;
  /** Whether the servers in this file are imported even if the user does not give their names. */
  isTrusted(source: ImportSource): boolean;
}

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

/** Whether the values are equal, or differ only because an earlier import has moved a secret into the secret store. */
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
 * A free name for the server: `name-cursor`, then `name-cursor-2` and so on. A name also counts as free if it belongs
 * to an equal entry of the target file.
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

export interface ImportCandidate {
  readonly name: string;
  readonly source: ImportSource;
  readonly conversion: Conversion;
}

export interface Collection {
  readonly files: readonly { readonly source: ImportSource; readonly file: ForeignFile }[];
  readonly candidates: readonly ImportCandidate[];
}

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
    const place = {
      program,
      platform: environment.platform,
      target,
      root,
      inputs,
      ...(folder === undefined ? {} : { folder }),
    };
    return { name: server.name, source, conversion: convertServer(server, place) };
  });
}
