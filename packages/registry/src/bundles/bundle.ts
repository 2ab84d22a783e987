/**
 * Bundles on disk (MCPB): reads a file, unpacks it read-only under its digest, and removes it with its server. Nothing of
 * a bundle runs before the server starts.
 */

import { createHash, randomUUID } from "node:crypto";
import { chmod, mkdir, readdir, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { safeFileName } from "@fairlead/core/connect";
import { ensurePrivateFolder, isInside, unless } from "@fairlead/core/files";
import { type BundleManifest, manifestName, maxManifestBytes, readManifest } from "./manifest.ts";
import { type BundleSignature, checkSignature, splitSignature } from "./signature.ts";
import { type BundleFile, BundleRefusal, bundleLimits, readZip } from "./zip.ts";

/** A bundle that was read and checked, and not unpacked. */
export interface Bundle {
  readonly manifest: BundleManifest;
  /** SHA-256 of the file as it was downloaded, in hexadecimal. */
  readonly sha256: string;
  readonly signature: Exclude<BundleSignature, { readonly kind: "broken" }>;
  readonly files: readonly BundleFile[];
  /** Bytes when unpacked. */
  readonly size: number;
}

/**
 * Reads a bundle.
 *
 * @param expected The digest that somebody else has published for the file.
 * @throws BundleRefusal
 */
export function readBundle(bytes: Buffer, expected?: string): Bundle {
  if (bytes.length > bundleLimits.fileBytes)
    throw new BundleRefusal(`it is larger than ${bundleLimits.fileBytes / 1024 / 1024} MB`);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  if (expected !== undefined && expected.toLowerCase() !== sha256)
    throw new BundleRefusal(`its SHA-256 is ${sha256}, not ${expected.toLowerCase()}`);
  const { zip, signature: der } = splitSignature(bytes);
  const files = readZip(zip);
  const signature = checkSignature(zip, der);
  if (signature.kind === "broken") throw new BundleRefusal(`its signature is broken: ${signature.reason}`);
  const manifestFile = files.find(({ path }) => path === manifestName);
  if (manifestFile === undefined) throw new BundleRefusal("it has no manifest.json");
  if (manifestFile.size > maxManifestBytes) throw new BundleRefusal("manifest.json is larger than 1 MB");
  const manifest = readManifest(manifestFile.read());
  return { manifest, sha256, signature, files, size: files.reduce((sum, file) => sum + file.size, 0) };
}

/** The folder of all bundles. */
export function bundlesFolder(state: string): string {
  return join(state, "bundles");
}

/** The folder of one bundle. Its name contains the digest, so an approval of the server covers the files. */
export function folderOfBundle({ manifest: { name, version }, sha256 }: Bundle, state: string): string {
  return join(bundlesFolder(state), safeFileName(name), `${safeFileName(version)}-${sha256.slice(0, 16)}`);
}

/**
 * Unpacks a bundle. If its folder exists already, the same bundle was unpacked before.
 *
 * @throws BundleRefusal if a file is damaged. Nothing is left on disk then.
 */
export async function unpackBundle(bundle: Bundle, state: string): Promise<string> {
  const folder = folderOfBundle(bundle, state);
  if (await exists(folder)) return folder;
  const bundles = bundlesFolder(state);
  await ensurePrivateFolder(bundles);
  const unfinished = join(bundles, `.unpacking-${randomUUID()}`);
  try {
    await writeFiles(bundle, unfinished);
    await ensurePrivateFolder(dirname(folder));
    await rename(unfinished, folder).catch(async (error: unknown) => {
      // Another process may have unpacked the same bundle meanwhile.
      if (!(await exists(folder))) throw error;
      await removeFolder(unfinished);
    });
  } catch (error) {
    await removeFolder(unfinished);
    await removeIfEmpty(dirname(folder));
    throw error;
  }
  return folder;
}

async function writeFiles({ files, manifest }: Bundle, folder: string): Promise<void> {
  const folders = new Set([folder]);
  await mkdir(folder, { mode: 0o700 });
  for (const file of files) {
    const path = join(folder, ...file.path.split("/"));
    // The names were checked. This is for the case that the check has a mistake.
    if (!path.startsWith(folder + sep)) throw new BundleRefusal(`"${file.path}" leads out of the bundle`);
    const parents = file.path.split("/").slice(0, -1);
    for (let depth = 1; depth <= parents.length; depth += 1) {
      const parent = join(folder, ...parents.slice(0, depth));
      if (folders.has(parent)) continue;
      folders.add(parent);
      await mkdir(parent, { mode: 0o700 }).catch(unless("EEXIST"));
    }
    // Programs that were packed on Windows have no mode.
    const isProgram = file.isExecutable || (manifest.kind === "binary" && file.path === manifest.entryPoint);
    await writeFile(path, file.read(), { flag: "wx", mode: isProgram ? 0o500 : 0o400 });
  }
  for (const each of [...folders].reverse()) if (each !== folder) await chmod(each, 0o500);
}

/** How long the folders of removed servers are kept, so that the removal can be undone: a week, in milliseconds. */
const keptFor = 7 * 24 * 60 * 60 * 1000;

/** The folder of a bundle that the entry of a server runs. Undefined if it runs none. */
export function bundleFolderIn(entry: unknown, state: string): string | undefined {
  const bundles = bundlesFolder(state);
  const pattern = new RegExp(`${escapeRegExp(bundles + sep)}([\\w.-]+)${escapeRegExp(sep)}([\\w.-]+)`);
  const [, name = "", version = ""] = pattern.exec(textsIn(entry).join("\n")) ?? [];
  if (name === "" || name.startsWith(".") || version.startsWith(".")) return undefined;
  return join(bundles, name, version);
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value.replaceAll("$$", () => "$")];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Puts the folder of a removed server aside. It is deleted after a week. */
export async function setBundleAside(folder: string, state: string): Promise<void> {
  const aside = asideOf(folder, state);
  await clearAside(state);
  if (!(await exists(folder))) return;
  await ensurePrivateFolder(dirname(aside));
  await removeFolder(aside);
  await rename(folder, aside);
  const now = new Date();
  await utimes(aside, now, now);
  await removeIfEmpty(dirname(folder));
}

/** Puts the folder of a removed server back. Does nothing if it is there, or if none was put aside. */
export async function putBack(folder: string, state: string): Promise<void> {
  const aside = asideOf(folder, state);
  if ((await exists(folder)) || !(await exists(aside))) return;
  await ensurePrivateFolder(dirname(folder));
  await rename(aside, folder);
}

function asideOf(folder: string, state: string): string {
  const bundles = bundlesFolder(state);
  if (!isInside(folder, bundles)) throw new Error(`${folder} is not the folder of a bundle`);
  return join(bundles, ".removed", folder.slice(bundles.length + 1).replaceAll(sep, "__"));
}

/** Deletes what was put aside a week ago. */
async function clearAside(state: string): Promise<void> {
  const removed = join(bundlesFolder(state), ".removed");
  for (const name of (await readdir(removed).catch(unless("ENOENT"))) ?? []) {
    const found = await stat(join(removed, name)).catch(unless("ENOENT"));
    if (found !== undefined && Date.now() - found.mtimeMs > keptFor) await removeFolder(join(removed, name));
  }
}

/** Removes a folder whose folders are read-only. */
async function removeFolder(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(unless("ENOENT"));
  if (entries === undefined) return;
  for (const entry of entries) if (entry.isDirectory()) await chmod(join(entry.parentPath, entry.name), 0o700);
  await rm(folder, { recursive: true, force: true });
}

async function removeIfEmpty(folder: string): Promise<void> {
  const names = await readdir(folder).catch(unless("ENOENT"));
  if (names?.length === 0) await rm(folder, { recursive: true });
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(unless("ENOENT"))) !== undefined;
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}
