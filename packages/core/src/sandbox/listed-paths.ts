/** The files and folders of a profile, and what stays closed in them. */

import { createHash } from "node:crypto";
import { lstat, mkdir, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { HostError } from "../errors.ts";
import { isInside, realPathOf } from "../files/real-path.ts";
import type { SandboxSettings, ServerDefinition } from "../settings/define/definition.ts";
import type { Environment } from "../settings/read/paths.ts";

/** Folders of Fairlead that every sandbox keeps closed. */
export interface ClosedFolders {
  /** Fairlead's state folder. It has the private folders of the sandboxes, and is hidden in all of them. */
  readonly state: string;
  /** The folders of the user's settings, and of the workspace's. No sandbox may write into them. */
  readonly settingsFolders: readonly string[];
  /** The real path of the workspace root. */
  readonly root: string;
  readonly environment: Pick<Environment, "env" | "home">;
}

/** The private folder of a server: its home inside. It stays when the server ends. */
export async function privateFolder(definition: ServerDefinition, { state }: ClosedFolders): Promise<string> {
  const folder = privatePath(definition, state);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return folder;
}

function privatePath({ name, base }: ServerDefinition, state: string): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([name, base.folder]))
    .digest("hex")
    .slice(0, 8);
  const readable = name.replaceAll(/[^\w.-]/g, "_").slice(0, 40);
  return join(state, "sandboxes", `${readable}-${digest}`, "home");
}

/** Removes the private folder of a server, and the package that was fetched for it. */
export async function removePrivateFolder(definition: ServerDefinition, state: string): Promise<void> {
  await rm(dirname(privatePath(definition, state)), { recursive: true, force: true });
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
  const { name, sandbox, base } = definition;
  // A repository may have links. What is approved is the path that the workspace lists.
  const isOfWorkspace = definition.scope === "workspace";
  const folder = await realPathOf(base.folder);
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
    // The files of a bundle are the program's own. They are read-only on disk too.
    const isBundle = !isWritable && isInside(real, join(state, "bundles")) && real !== join(state, "bundles");
    if (isInside(real, state) && !isBundle)
      throw unusable(name, path, "Fairlead's own files are hidden in every sandbox");
    if (isWritable && decidesWhatRuns(real, context))
      throw unusable(name, path, "it decides what Fairlead runs, so no sandbox may write there");
    if (isOfWorkspace && isInside(path, base.folder) && real !== join(folder, path.slice(base.folder.length)))
      throw unusable(
        name,
        path,
        `it is a link to ${real}. A workspace must list that path itself, so that you approve it`,
      );
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
export function systemFolderOf(path: string): string | undefined {
  if (isInside(path, "/dev/shm") && path !== "/dev/shm") return undefined;
  return ["/proc", "/sys", "/dev"].find((folder) => isInside(path, folder));
}

/** Whether a path is in a folder of settings. One that has the home folder or the workspace in it is more than that. */
function decidesWhatRuns(real: string, { settingsFolders, environment, root }: ClosedFolders): boolean {
  return settingsFolders.some(
    (folder) => isInside(real, folder) && !isInside(environment.home, folder) && !isInside(root, folder),
  );
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

/** A mount of a listed path, or of a file in it that stays closed. */
interface ListedMount {
  readonly kind: "read" | "write" | "hidden";
  /** The file or folder of the host. */
  readonly source: string;
  /** Where it is inside. */
  readonly path: string;
}

/** How the listed paths are mounted. */
export interface ListedMounts {
  readonly options: readonly string[];
  /**
   * What the start script checks: a line for each mount in a writable folder, with device, inode and path. The server may
   * run twice. The one that runs could replace a folder by a link between our look at it and the mount.
   */
  readonly checks: string;
}

/**
 * Mounts the listed paths, parents first. In them stays closed: Fairlead's state, which is hidden, and in writable folders
 * the settings that decide what runs, and files by which a program could have others run its code.
 *
 * @throws HostError `settings_invalid` if such a file is a link, which no mount protects
 */
export async function mountListed(
  serverName: string,
  paths: readonly ShownPath[],
  context: ClosedFolders,
  fetched?: string,
): Promise<ListedMounts> {
  const mounts = new Map<string, ListedMount>();
  for (const { path, real, isWritable } of paths)
    mounts.set(path, { kind: isWritable ? "write" : "read", source: real, path });
  const add = (mount: ListedMount): void => {
    if (!mounts.has(mount.path)) mounts.set(mount.path, mount);
  };
  for (const { path, real, isWritable } of paths) {
    const inside = (target: string): string => join(path, target.slice(real.length));
    // A folder above a closed one is a mount too: otherwise the server could rename it, and make another one.
    const close = (target: string, kind: "read" | "hidden"): void => {
      for (let above = dirname(target); isWritable && above !== real && isInside(above, real); above = dirname(above))
        add({ kind: "write", source: above, path: inside(above) });
      add({ kind, source: target, path: inside(target) });
    };
    for (const hidden of await hiddenFolders(context)) if (isInside(hidden, real)) close(hidden, "hidden");
    if (isWritable) for (const target of await obeyedFiles(serverName, path, real, context)) close(target, "read");
  }
  if (fetched !== undefined) add({ kind: "read", source: fetched, path: fetched });
  const ordered = [...mounts.values()].sort((one, other) => one.path.length - other.path.length);
  const checked = ordered.filter(({ path }) =>
    ordered.some(({ kind, path: above }) => kind === "write" && above !== path && isInside(path, above)),
  );
  const lines = await Promise.all(
    checked.map(async ({ kind, source, path }) => `${kind === "hidden" ? "-" : await identityOf(source)} ${path}`),
  );
  const options = { read: "--ro-bind", write: "--bind", hidden: "--tmpfs" } as const;
  return {
    options: [
      ...ordered.flatMap(({ kind, source, path }) => [options[kind], ...(kind === "hidden" ? [] : [source]), path]),
      // Nothing that a server writes there would reach the host, and it would fill the memory. The mounts in it come first.
      ...ordered.flatMap(({ kind, path }) => (kind === "hidden" ? ["--remount-ro", path] : [])),
    ],
    checks: lines.join("\n"),
  };
}

async function identityOf(path: string): Promise<string> {
  const { dev, ino } = await lstat(path, { bigint: true });
  return `${dev}:${ino}`;
}

async function hiddenFolders({ state }: ClosedFolders): Promise<readonly string[]> {
  return [await realPathOf(state), socketFolder()];
}

/** The folder for sockets, if the state folder's path is too long for them. */
export function socketFolder(): string {
  return join(tmpdir(), `fairlead-${process.getuid?.() ?? 0}`);
}

/** Files and folders below a writable folder that decide what runs on the host. */
async function obeyedFiles(
  serverName: string,
  path: string,
  real: string,
  { settingsFolders, environment }: ClosedFolders,
): Promise<readonly string[]> {
  const settings = settingsFolders.filter((folder) => folder !== real && isInside(folder, real));
  // An absent folder could be made by the server.
  for (const folder of settings) await mkdir(folder, { recursive: true, mode: 0o700 });
  const programs = [...(environment.env["PATH"] ?? "").split(":"), dirname(dirname(process.execPath))].filter(
    (folder) => folder !== real && isInside(folder, real),
  );
  const found: string[] = [];
  for (const target of [...settings, ...programs, ...obeyed.map((file) => join(real, file))]) {
    const link = await firstLink(real, target);
    if (link !== undefined)
      throw unusable(
        serverName,
        path,
        `${join(path, link.slice(real.length))} in it is a link, which no sandbox can protect`,
      );
    if (await exists(target)) found.push(target);
  }
  return [...found, ...(await obeyedBelow(real))];
}

/** The first symbolic link on the way from a folder to a file below it. */
async function firstLink(folder: string, target: string): Promise<string | undefined> {
  for (let path = folder; path !== target; ) {
    path = join(path, target.slice(path.length + 1).split("/", 1)[0] ?? "");
    const stats = await lstat(path).catch(() => undefined);
    if (stats === undefined) return undefined;
    if (stats.isSymbolicLink()) return path;
  }
  return undefined;
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

const deepest = 2;
const mostFolders = 400;

/** The same in projects below the folder, as far as a quick search finds them. */
async function obeyedBelow(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  let level = [folder];
  let count = 0;
  for (let depth = 0; depth <= deepest; depth++) {
    const next: string[] = [];
    for (const parent of level) {
      if (++count > mostFolders) return found;
      for (const entry of await readdir(parent, { withFileTypes: true }).catch(() => [])) {
        if (/\p{Cc}/u.test(entry.name)) continue;
        const child = join(parent, entry.name);
        if (obeyedInProjects.has(entry.name)) {
          if (depth > 0 && !entry.isSymbolicLink()) found.push(child);
        } else if (entry.isDirectory() && entry.name !== "node_modules") next.push(child);
      }
    }
    level = next;
  }
  return found;
}

const obeyedInProjects = new Set(
  ".git .hg .envrc .env .mcp.json .vscode .idea .cursor .claude .codex .gemini .devcontainer .husky .npmrc".split(" "),
);
/** Files below a writable folder that other programs run or obey. They stay read-only, as far as they exist. */
const obeyed: readonly string[] = [
  ...obeyedInProjects,
  ...".bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zprofile .zshenv .zlogin .zlogout".split(" "),
  ...".xprofile .xinitrc .xsession .xsessionrc .pam_environment .ssh .gnupg .gitconfig .netrc .claude.json".split(" "),
  ...".vimrc .vim .emacs .emacs.d .tmux.conf .gdbinit .cargo .local/bin .local/share/applications".split(" "),
  ...".local/share/systemd .local/share/dbus-1 .config/git .config/autostart .config/systemd .config/fish".split(" "),
  ...".config/environment.d .config/nvim .config/Code .config/Cursor .config/zed".split(" "),
  ...".yarnrc.yml .pnpmfile.cjs .pre-commit-config.yaml .venv/bin node_modules/.bin".split(" "),
];
