/** Finds in what a sandboxed server says which files and hosts it was refused, and proposes the smallest profile with them. */

import { lstat, realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize, resolve } from "node:path";
import { isInside } from "../files/real-path.ts";
import { hostAndPort } from "../settings/define/sandbox-settings.ts";
import { isOfferedHost, splitAddress } from "./egress.ts";
import { isOfSystem, nearestManifest } from "./program-files.ts";
import { insideHome } from "./shared-files.ts";

/** What a server has and says. All of its words are hostile: what they name is proposed only if it exists here. */
export interface LearnSubject {
  /** Lines of its log, texts of results, and messages of failures. */
  readonly texts: readonly string[];
  /** Hosts that the proxy refused, with the reason. */
  readonly refusedHosts: readonly { readonly host: string; readonly reason: string }[];
  /** Scripts among its arguments, as absolute paths. */
  readonly scripts: readonly string[];
  /** Files and folders that it sees to read, and those that it may change. */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  /** Hosts that it reaches already, with their ports. */
  readonly hosts: readonly string[];
  readonly home: string;
  /** Fairlead's state folder and the folders of its settings. */
  readonly closed: readonly string[];
}

/** What a profile lacks. */
export interface Learned {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly hosts: readonly string[];
  /** What the server wanted, and what only the user lists. */
  readonly withheld: readonly { readonly what: string; readonly why: string }[];
}

const mostTexts = 4000;
const mostCandidates = 200;
const longestPath = 4096;

/** Reads the refusals. Paths and hosts that the profile has already are left out. */
export async function learnFrom(subject: LearnSubject): Promise<Learned> {
  const lines = subject.texts.flatMap((text) => text.split("\n")).slice(-mostTexts);
  const read = new Set<string>();
  const write = new Set<string>();
  const withheld = new Map<string, string>();
  const add = async (path: string, isWritten: boolean): Promise<void> => {
    const seen = isWritten ? subject.writable : [...subject.readable, ...subject.writable];
    if (seen.some((shown) => isInside(path, shown)) || isOfSystem(path) || isOfSandbox(path)) return;
    const why = await whyClosed(path, subject);
    if (why !== undefined) withheld.set(path, why);
    else (isWritten ? write : read).add(path);
  };
  for (const { path, isWritten } of wantedPaths(lines).slice(0, mostCandidates)) {
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined) await add(path, isWritten);
    else if (isWritten) {
      // A new file: its folder must be writable, if there is one.
      const folder = dirname(path);
      if ((await stat(folder).catch(() => undefined))?.isDirectory()) await add(folder, true);
    }
  }
  for (const folder of await libraryFolders(lines.join("\n"), subject)) await add(folder, false);

  const hosts = new Set<string>();
  for (const { host, reason } of subject.refusedHosts.slice(0, mostCandidates)) {
    const address = hostAndPort(host, undefined);
    const wish = address === undefined ? undefined : splitAddress(address);
    if (address === undefined || wish === undefined) continue;
    // The profile lists it, but it leads to an address that the name does not list.
    if (!reason.includes("is not in")) withheld.set(host, reason);
    else if (!(await isOfferedHost(wish))) withheld.set(host, "it is an address of this machine or of its networks");
    else if (!subject.hosts.includes(address)) hosts.add(address.replace(/:443$/, ""));
  }
  const widest = [...write, ...read];
  const isNeeded = (path: string): boolean => !widest.some((other) => other !== path && isInside(path, other));
  return {
    read: [...read].filter((path) => isNeeded(path) && !write.has(path)).sort(),
    write: [...write].filter((path) => ![...write].some((other) => other !== path && isInside(path, other))).sort(),
    hosts: [...hosts].sort(),
    withheld: [...withheld].map(([what, why]) => ({ what, why })),
  };
}

/** Folders that each sandbox has for itself. */
function isOfSandbox(path: string): boolean {
  return (
    ["/", "/tmp", "/dev/shm", "/home", "/run"].includes(path) ||
    isInside(path, insideHome) ||
    isInside(path, "/run/fairlead")
  );
}

const refusal =
  /\b(?:ENOENT|EACCES|EROFS|EPERM|ENOTDIR)\b|no such file|not found|permission denied|read-only file system|not exist|not accessible|cannot|can't|could not|couldn't|unable to|failed to|error/i;
/** Words of a refused write. A refused `open` can be either: then the file is proposed to read first. */
const writing =
  /\bEROFS\b|read-only file system|\b(?:mkdir|rename|unlink|rmdir|copyfile|symlink|writ(?:e|ing|able)|creat(?:e|ing))\b/i;

/** Absolute paths in lines about a refusal. */
function wantedPaths(lines: readonly string[]): readonly { readonly path: string; readonly isWritten: boolean }[] {
  const wanted = new Map<string, boolean>();
  for (const line of lines) {
    if (!refusal.test(line)) continue;
    const isWritten = writing.test(line);
    const quoted = [...line.matchAll(/["'`]((?:file:\/\/)?\/[^"'`\n]+)["'`]/g)];
    const plain = [...line.matchAll(/(?:^|[\s(=:,[])((?:file:\/\/)?\/[^\s"'`,;()<>\]]+)/g)];
    for (const [, word = ""] of [...quoted, ...plain]) {
      const path = pathOf(word);
      if (path !== undefined) wanted.set(path, isWritten || wanted.get(path) === true);
    }
  }
  return [...wanted].map(([path, isWritten]) => ({ path, isWritten }));
}

function pathOf(word: string): string | undefined {
  const text = word
    .replace(/^file:\/\//, "")
    .replace(/(?::\d+)*[.:]*$/, "")
    .replace(/(.)\/+$/, "$1");
  if (!isAbsolute(text) || text.length > longestPath || /\p{Cc}/u.test(text)) return undefined;
  return normalize(text);
}

/**
 * The folders with the libraries that a program of Node or Python did not find: `node_modules` above the file that wants
 * one, or the folder of its own package.
 */
async function libraryFolders(text: string, { scripts, home }: LearnSubject): Promise<readonly string[]> {
  const folders = new Set<string>();
  const from = [...text.matchAll(/imported from (\S+)|^- (\/\S+)|File "([^"]+)"/gm)].flatMap(
    ([, esm, required, python]) => pathOf((esm ?? required ?? python ?? "").replaceAll(/^['"]|['"]$/g, "")) ?? [],
  );
  const users = [...new Set([...from, ...scripts])].slice(0, 32);
  for (const [, name = ""] of text.matchAll(/Cannot find (?:package|module) '([^'\n]+)'/g)) {
    if (isAbsolute(name)) {
      const folder = dirname(normalize(name));
      const manifest = await nearestManifest(folder, home);
      const modules = /^(.*?\/node_modules)\//.exec(name)?.[1];
      if (await exists(folder)) folders.add(modules ?? (manifest === undefined ? folder : dirname(manifest)));
      continue;
    }
    const [first = "", second = ""] = name.split("/");
    const library = first.startsWith("@") ? join(first, second) : first;
    if (!/^@?[\w.-]+(?:\/[\w.-]+)?$/.test(library)) continue;
    for (const user of users) {
      const modules = await modulesWith(library, dirname(user));
      if (modules !== undefined) folders.add(modules);
    }
  }
  for (const [, name = ""] of text.matchAll(/No module named '([\w.]+)'/g)) {
    const [top = ""] = name.split(".");
    for (const user of users)
      if ((await exists(join(dirname(user), `${top}.py`))) || (await exists(join(dirname(user), top))))
        folders.add(dirname(user));
  }
  return [...folders];
}

async function modulesWith(library: string, folder: string): Promise<string | undefined> {
  for (let above = resolve(folder); ; above = dirname(above)) {
    const modules = join(above, "node_modules");
    if (await exists(join(modules, library))) return modules;
    if (dirname(above) === above) return undefined;
  }
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Files and folders with secrets, below the home folder. */
const secrets =
  ".ssh .gnupg .aws .azure .kube .docker .config/gcloud .config/gh .config/google-chrome .config/chromium .mozilla .thunderbird .netrc .npmrc .pypirc .git-credentials .password-store .local/share/keyrings .claude .codex .gemini .cursor .bash_history .zsh_history .env".split(
    " ",
  );
const systemFolders = ["/proc", "/sys", "/dev", "/run", "/etc", "/var", "/boot", "/root"];

/** Why a path is never proposed. Undefined if it may be. */
async function whyClosed(path: string, { home, closed }: LearnSubject): Promise<string | undefined> {
  const real = await realpath(path).catch(() => path);
  const realHome = await realpath(home).catch(() => home);
  for (const folder of [path, real]) {
    if (isInside(home, folder) || isInside(realHome, folder)) return "it contains your home folder";
    if (closed.some((own) => isInside(folder, own) || isInside(own, folder))) return "it belongs to Fairlead";
    const secret = secrets.find((name) =>
      [home, realHome].some((at) => isInside(folder, join(at, name)) || isInside(join(at, name), folder)),
    );
    if (secret !== undefined) return `~/${secret} has secrets`;
    const isOfHome = isInside(folder, home) || isInside(folder, realHome);
    const system = systemFolders.find((name) => isInside(folder, name));
    if (system !== undefined && !isOfHome && !isInside(folder, "/dev/shm")) return `${system} belongs to the system`;
  }
  return undefined;
}
