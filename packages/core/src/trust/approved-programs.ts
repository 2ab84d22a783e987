/** Finds the program files of a workspace's stdio server. An approval covers these files and the server's entry. */

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, realpath, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isObject, parseJson } from "@fairlead/wire/json";
import { parseUrl } from "@fairlead/wire/text";
import { readText } from "../files/read-text.ts";
import { isInside } from "../files/real-path.ts";
import { limits } from "../limits.ts";
import type { ConfiguredServer, StdioTransport } from "../settings/define/definition.ts";
import { findProgram, type ProgramPlace, systemPath } from "./programs.ts";

/** One file that the server would run. */
export interface ProgramFile {
  /** The path without symbolic links. If the file does not exist, the path in the entry. */
  readonly file: string;
  /** SHA-256 of the file's content. Absent for a file outside the workspace, and for a file that cannot be read. */
  readonly digest?: string;
}

/**
 * Adds `programs`, the files that the server would run, to the definition. Returns the server unchanged if it is not a
 * stdio server of a trusted workspace.
 */
export async function withPrograms(server: ConfiguredServer, context: ProgramPlace): Promise<ConfiguredServer> {
  const { scope, definition } = server;
  if (scope !== "workspace" || !context.trusted || definition?.resolved?.kind !== "stdio") return server;
  return { ...server, definition: { ...definition, programs: await readPrograms(definition.resolved, context) } };
}

/**
 * Returns the files that the server would run: the program, the interpreter in its first line, and workspace files in
 * variables such as `NODE_OPTIONS`. If the program is an interpreter, also workspace files among the arguments.
 */
export async function readPrograms(
  { command, args, env, cwd }: StdioTransport,
  { environment, root }: ProgramPlace,
): Promise<readonly ProgramFile[]> {
  const path = env.get("PATH") ?? environment.env["PATH"] ?? systemPath;
  const folder = cwd ?? root;
  const program = await findProgram(command, path, folder);
  const scripts = isInterpreter(command) ? args : [];
  const paths = [
    program ?? command,
    ...(await interpreterOf(program, path, folder, root)),
    ...(await filesIn([...scripts, ...preloadsIn(env)], folder, root)),
  ];
  return Promise.all(paths.map((file) => identify(file, root)));
}

/** Whether two lists contain the same files with the same content, in the same order. */
export function isSamePrograms(one: readonly ProgramFile[], other: readonly ProgramFile[]): boolean {
  return (
    one.length === other.length &&
    one.every(({ file, digest }, at) => file === other[at]?.file && digest === other[at].digest)
  );
}

async function identify(path: string, root: string): Promise<ProgramFile> {
  const file = await realpath(path).catch(() => path);
  const digest = isInside(file, root) ? await digestOf(file) : undefined;
  return { file, digest };
}

async function digestOf(file: string): Promise<string | undefined> {
  if ((await stat(file).catch(() => undefined))?.isFile() !== true) return undefined;
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) hash.update(chunk);
    return hash.digest("hex");
  } catch {
    return undefined;
  }
}

const longestLine = 256;

/**
 * Returns the interpreter in a script's first line if it uses `env` (`#!/usr/bin/env node`) or a file of the workspace.
 * Others, such as `/bin/sh`, belong to the system and are left out.
 */
async function interpreterOf(
  file: string | undefined,
  path: string,
  folder: string,
  root: string,
): Promise<readonly string[]> {
  const [program, argument] = file === undefined ? [] : await firstLine(file);
  if (program === undefined) return [];
  if (basename(program) === "env" && argument !== undefined)
    return [(await findProgram(argument, path, folder)) ?? argument];
  const interpreter = resolve(folder, program);
  return (await isWorkspaceFile(interpreter, root)) ? [interpreter] : [];
}

/**
 * Returns the program and the argument in a script's first line: `/usr/bin/env` and `node` for `#!/usr/bin/env -S
 * node`.
 */
export async function firstLine(file: string): Promise<readonly [program?: string, argument?: string]> {
  const handle = await open(file).catch(() => undefined);
  // A file that can be executed but not read is not a script.
  if (handle === undefined) return [];
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(longestLine), 0, longestLine, 0);
    const [, program, argument] =
      /^#![ \t]*(\S+)(?:[ \t]+(?:-S[ \t]+)?([^\s-]\S*))?/.exec(buffer.toString("latin1", 0, bytesRead)) ?? [];
    return program === undefined ? [] : argument === undefined ? [program] : [program, argument];
  } finally {
    await handle.close();
  }
}

const interpreters =
  /^(?:node|nodejs|bun|deno|tsx|ts-node|python|pypy|ruby|perl|php|lua|(?:ba|da|z|k|fi)?sh|pwsh|powershell|java|dotnet)[\d.]*(?:[.]exe)?$/i;

function isInterpreter(command: string): boolean {
  return interpreters.test(basename(command));
}

/** Environment variables that make an interpreter run files before the script. */
const preloadVariables = ["NODE_OPTIONS", "BUN_OPTIONS", "RUBYOPT", "PERL5OPT", "BASH_ENV", "ENV", "PYTHONSTARTUP"];

/** The words in the values of `preloadVariables` that may be paths of files. */
function preloadsIn(env: ReadonlyMap<string, string>): readonly string[] {
  return preloadVariables.flatMap((name) => {
    const value = env.get(name) ?? "";
    // A path may contain spaces if it is quoted, if the spaces are escaped, or if the path is the whole value.
    const words = value.match(/(?:"(?:\\.|[^"\\])*"|\\.|[^\s"])+/g) ?? [];
    return [...new Set([value, ...words.map((word) => word.replaceAll(/"|\\(?=["\\\s])/g, ""))])];
  });
}

/** Returns all workspace files among the arguments. Only the interpreter knows which of them it runs. */
async function filesIn(args: readonly string[], cwd: string, root: string): Promise<readonly string[]> {
  const files = await Promise.all(args.flatMap(pathsIn).map((path) => filesOf(resolve(cwd, path), root)));
  return [...new Set(files.flat())];
}

/** The paths that an argument may contain: `FILE`, `--option=FILE`, `-rFILE`, or a `file:` URL. */
function pathsIn(argument: string): readonly string[] {
  const attached = /^-[A-Za-z](.+)$/s.exec(argument)?.[1];
  const value = /^-[^=]*=(.*)$/s.exec(argument)?.[1];
  return [argument, attached, value].flatMap((text) => {
    if (text === undefined || text === "") return [];
    return text.startsWith("file:") && parseUrl(text) !== undefined ? pathOfUrl(text) : [text];
  });
}

function pathOfUrl(url: string): readonly string[] {
  try {
    return [fileURLToPath(url)];
  } catch {
    // The URL names another host, so it names no local file.
    return [];
  }
}

/** Endings that interpreters add to the name of a script. */
const endings = [".js", ".mjs", ".cjs", ".json", ".node", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".py"];
/** Names of the files that run if the script is a folder. */
const folderFiles = [...endings.map((ending) => `index${ending}`), "__main__.py"];

/**
 * Returns the existing files that an interpreter may run for this path, such as `PATH.js` or `PATH/index.js`. Returns
 * all, because each interpreter chooses differently.
 */
async function filesOf(path: string, root: string): Promise<readonly string[]> {
  if (await isWorkspaceFile(path, root)) return [path];
  const manifest = join(path, "package.json");
  const main = (await isWorkspaceFile(manifest, root)) ? await mainOf(manifest) : undefined;
  const [mainPath, manifests] = main === undefined ? [[], []] : [[resolve(path, main)], [manifest]];
  const candidates = [
    ...endings.map((ending) => path + ending),
    ...manifests,
    ...mainPath.flatMap((file) => [file, ...endings.map((ending) => file + ending)]),
    ...[path, ...mainPath].flatMap((folder) => folderFiles.map((file) => join(folder, file))),
  ];
  const isFound = await Promise.all(candidates.map((candidate) => isWorkspaceFile(candidate, root)));
  return candidates.filter((_, at) => isFound[at]);
}

async function mainOf(manifest: string): Promise<string | undefined> {
  const found = await readText(manifest, limits.settingsBytes);
  const content = found.kind === "text" ? parseJson(found.text) : undefined;
  return isObject(content) && typeof content["main"] === "string" ? content["main"] : undefined;
}

/** Whether the path leads to a file and lies in the workspace, either as written or with links resolved. */
async function isWorkspaceFile(path: string, root: string): Promise<boolean> {
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined || !(isInside(path, root) || isInside(real, root))) return false;
  return (await stat(real).catch(() => undefined))?.isFile() === true;
}
