/** The files and folders of a profile, and what stays closed in them. */

import { createHash } from "node:crypto";
import { mkdir, readFile, realpath, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { HostError } from "../errors.ts";
import { isInside, realPathOf } from "../files/real-path.ts";
import type { SandboxSettings, ServerDefinition } from "../settings/define/definition.ts";

/** Folders of Fairlead that every sandbox keeps closed. */
export interface ClosedFolders {
  /** Fairlead's state folder. It has the private folders of the sandboxes, and is hidden in all of them. */
  readonly state: string;
  /** The folders of the user's settings, and of the workspace's. No sandbox may write into them. */
  readonly settingsFolders: readonly string[];
}

/** The private folder of a server: its home inside. It stays when the server ends. */
export async function privateFolder({ name, base }: ServerDefinition, { state }: ClosedFolders): Promise<string> {
  const digest = createHash("sha256")
    .update(JSON.stringify([name, base.folder]))
    .digest("hex")
    .slice(0, 8);
  const readable = name.replaceAll(/[^\w.-]/g, "_").slice(0, 40);
  const folder = join(state, "sandboxes", `${readable}-${digest}`, "home");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** A listed path, and the file or folder behind it. */
export interface ShownPath {
  readonly path: string;
  readonly real: string;
  readonly isWritable: boolean;
}

/**
 * Resolves the listed paths, parents first. A server that may write into a folder could replace a listed file in it by a
 * link to another file: such a link is never followed. Other links are followed as they were when the profile was first used.
 */
export async function resolvePaths(
  definition: ServerDefinition & { readonly sandbox: SandboxSettings },
  context: ClosedFolders,
): Promise<readonly ShownPath[]> {
  const { name, sandbox } = definition;
  const listed = [
    ...sandbox.read.map((path) => ({ path, isWritable: false })),
    ...sandbox.write.map((path) => ({ path, isWritable: true })),
  ].filter(({ path, isWritable }) => isWritable || !sandbox.write.includes(path));
  const pathsFile = join(dirname(await privateFolder(definition, context)), "paths.json");
  const before = await readPaths(pathsFile);
  const shown: ShownPath[] = [];
  const now: Record<string, string> = {};
  for (const { path, isWritable } of listed.sort((one, other) => one.path.length - other.path.length)) {
    const real = await realpath(path).catch(() => undefined);
    const closed = systemFolderOf(path) ?? (real && systemFolderOf(real));
    if (closed !== undefined) throw unusable(name, path, `${closed} is the same for all sandboxes`);
    if (real === undefined) throw unusable(name, path, "it does not exist");
    const state = await realPathOf(context.state);
    if (isInside(real, state)) throw unusable(name, path, "Fairlead's own files are hidden in every sandbox");
    const parent = shown.findLast((other) => other.isWritable && isInside(path, other.path));
    if (parent !== undefined && real !== join(parent.real, path.slice(parent.path.length)))
      throw unusable(name, path, `it has become a link to ${real}, and the server may write beside it`);
    const earlier = before[path];
    if (earlier !== undefined && earlier !== real)
      throw unusable(name, path, `it has become a link to ${real} (it was ${earlier})`);
    now[path] = real;
    shown.push({ path, real, isWritable });
  }
  if (JSON.stringify(before) !== JSON.stringify(now)) await writeFile(pathsFile, JSON.stringify(now), { mode: 0o600 });
  return shown;
}

/** The system's folder that has the path. Folders in `/dev/shm` are of users, as those in `/tmp` are. */
function systemFolderOf(path: string): string | undefined {
  if (isInside(path, "/dev/shm") && path !== "/dev/shm") return undefined;
  return ["/proc", "/sys", "/dev"].find((folder) => isInside(path, folder));
}

async function readPaths(file: string): Promise<Readonly<Record<string, string>>> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as Record<string, string>;
  } catch {
    return {};
  }
}

function unusable(serverName: string, path: string, why: string): HostError {
  return new HostError(
    "settings_invalid",
    `"${serverName}" cannot start in its sandbox: ${path} is listed, but ${why}`,
    {
      serverName,
      next: `Correct "sandbox" of "${serverName}": fairlead mcp sandbox ${serverName}`,
    },
  );
}

/** Whether a listed folder contains the path. */
export function isShown(path: string, paths: readonly ShownPath[]): boolean {
  return paths.some((shown) => isInside(path, shown.path));
}

/**
 * Files that no sandbox may see or change although a listed folder contains them: Fairlead's state, the settings that
 * decide what runs, and files by which a program could have others run its code.
 */
export async function guards(paths: readonly ShownPath[], context: ClosedFolders): Promise<readonly string[]> {
  const state = await realPathOf(context.state);
  const guarded: string[] = [];
  for (const { path, real, isWritable } of paths) {
    const inside = (target: string) => join(path, target.slice(real.length));
    if (isInside(state, real)) guarded.push("--tmpfs", inside(state));
    if (!isWritable) continue;
    const own = context.settingsFolders.filter((folder) => isInside(folder, real) && folder !== real);
    const others = codeFiles.map((file) => join(real, file));
    for (const target of [...own, ...others])
      if ((await stat(target).catch(() => undefined)) !== undefined) guarded.push("--ro-bind", target, inside(target));
  }
  return guarded;
}

/** Files below a writable folder that other programs run or obey. They stay read-only, as far as they exist. */
const codeFiles = [
  ...".bashrc .bash_profile .bash_login .profile .zshrc .zprofile .zshenv .ssh .gitconfig .config/git .git/hooks .git/config".split(
    " ",
  ),
  ...".mcp.json .vscode .idea .cursor .claude .codex .gemini .envrc .npmrc .config/autostart .config/systemd".split(
    " ",
  ),
];
