/** Checks Node, the programs that start servers, and the versions of downloaded packages. Pure functions. */

import { readdir, realpath, stat } from "node:fs/promises";
import { delimiter, dirname, isAbsolute, join, win32 } from "node:path";
import { hideInWords } from "@fairlead/console/server/words/server-redaction";
import { findDownload, type LaunchContext, planLaunch } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import { groupBy, toShellWord } from "@fairlead/core/plain-text";
import type { Origin, ServerDefinition, StdioTransport } from "@fairlead/core/settings";
import {
  type Configuration,
  findProgram,
  firstLine,
  programPlace,
  systemPath,
  withoutUntrusted,
} from "@fairlead/core/trust";
import { note, type Observation, ok, problem, warning } from "./finding.ts";

/** The oldest supported version of Node, as major and minor number. */
const oldestNode = [20, 19] as const;

/** Reports missing programs, an old Node, and problems with `PATH`. */
export function checkPrograms({ node, npx, relativePath, launches }: ProgramFacts): readonly Observation[] {
  return [
    nodeItself(node),
    ...otherNode(node, launches),
    ...(npx === undefined ? [note("npx is not on PATH: servers from npm packages need it", installs("npx"))] : []),
    ...foundLines(launches, npx),
    ...launches.flatMap(whyNot),
    ...ofShells(launches),
    ...leftOut(launches),
    ...relative(relativePath, leftOut(launches).length > 0),
  ];
}

function nodeItself({ version, file }: ProgramFacts["node"]): Observation {
  const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number);
  const [oldMajor, oldMinor] = oldestNode;
  const isOld = major < oldMajor || (major === oldMajor && minor < oldMinor);
  if (!isOld) return ok(`Node ${version} (${file})`);
  const message = `Node ${version} (${file}) is too old: Fairlead needs ${oldestNode.join(".")} or later`;
  return problem({ code: "internal", message, next: "install a newer Node: https://nodejs.org" });
}

/** Reports servers whose Node is not the Node that runs Fairlead. */
function otherNode({ file, other }: ProgramFacts["node"], launches: readonly LaunchFacts[]): readonly Observation[] {
  const users = launches.filter(({ command, interpreter }) => command === "node" || interpreter?.name === "node");
  if (other === undefined || users.length === 0) return [];
  return [note(`${namesOf(users)}: runs on ${other}, but Fairlead runs on ${file}`)];
}

function foundLines(launches: readonly LaunchFacts[], npx: string | undefined): readonly Observation[] {
  const found = launches.flatMap(({ server, file }) => (file === undefined ? [] : [{ server, file }]));
  const used = groupBy(found, ({ file }) => file);
  const lines = [...used].map(([file, users]) => `${file} (${namesOf(users)})`);
  const idle = npx === undefined || used.has(npx) ? [] : [npx];
  return [...idle, ...lines].map(ok);
}

function whyNot(launch: LaunchFacts): readonly Observation[] {
  const { server, origin, command, file, interpreter, elsewhere, refused, script } = launch;
  if (refused) return [{ ...problem(refused), server }];
  if (file !== undefined && interpreter?.isFound !== false) return [];
  const missing = interpreter?.name ?? command;
  const notFound = { severity: "problem", server, code: "command_not_found" } as const;
  if (script !== undefined)
    return [
      {
        ...notFound,
        message: `"${server}" runs ${command}, but only the script ${script} exists, which cannot be started as a program`,
        next: `write "command": "powershell" and "args": ["-File", ${JSON.stringify(script)}, …] in its entry (${positionOf(origin)})`,
      },
    ];
  const what =
    file === undefined
      ? `"${server}" runs ${command}, which`
      : `"${server}" runs ${file}, which needs ${missing}, and that`;
  if (elsewhere)
    return [
      {
        ...notFound,
        message: `${what} is not on the server's PATH: it is in ${elsewhere.folder} (${elsewhere.manager}), which only your own shell has on its PATH`,
        next: addToPath(elsewhere.folder, `its entry (${positionOf(origin)})`),
      },
    ];
  const where = missing.includes("/") ? "does not exist or is not executable" : "is not on the server's PATH";
  return [
    {
      ...notFound,
      message: `${what} ${where}`,
      next: `${installs(missing)}; or correct the server's entry (${positionOf(origin)})`,
    },
  ];
}

function ofShells(launches: readonly LaunchFacts[]): readonly Observation[] {
  const managed = launches.flatMap((launch) => (launch.managed ? [{ ...launch, managed: launch.managed }] : []));
  return [...groupBy(managed, ({ managed: { folder } }) => folder)].map(([folder, users]) =>
    note(
      `${namesOf(users)}: program found in a folder of ${users[0].managed.manager} (${folder}), which editors and services do not have on their PATH`,
      addToPath(folder, users.length === 1 ? `its entry (${positionOf(users[0].origin)})` : "their entries"),
    ),
  );
}

function leftOut(launches: readonly LaunchFacts[]): readonly Observation[] {
  const dropped = new Set(launches.flatMap(({ droppedPath }) => droppedPath));
  if (dropped.size === 0) return [];
  const folders = [...dropped].map((folder) => JSON.stringify(folder)).join(", ");
  return [
    note(
      `the workspace is not trusted, so these folders were removed from the servers' PATH: ${folders}`,
      "fairlead trust add",
    ),
  ];
}

function relative(folders: readonly string[], isTold: boolean): readonly Observation[] {
  if (folders.length === 0 || isTold) return [];
  const shown = [...new Set(folders)].map((folder) => JSON.stringify(folder)).join(", ");
  return [
    warning(
      `PATH has relative folders, which depend on the current folder: ${shown}`,
      "remove them from PATH in your shell's startup file",
    ),
  ];
}

const installers: readonly (readonly [program: RegExp, advice: string])[] = [
  [/^(?:node|npm|npx)$/, "install Node.js: https://nodejs.org"],
  [/^uvx?$/, "install uv: https://docs.astral.sh/uv"],
  [/^docker$/, "install Docker: https://docs.docker.com/get-docker"],
  [/^python[\d.]*$/, "install Python: https://www.python.org"],
  [/^bunx?$/, "install Bun: https://bun.sh"],
  [/^deno$/, "install Deno: https://deno.com"],
  [/^pnpm$|^pnpx$/, "install pnpm: https://pnpm.io"],
  [/^pipx$/, "install pipx: https://pipx.pypa.io"],
];

function installs(program: string): string {
  return installers.find(([pattern]) => pattern.test(program))?.[1] ?? "install it";
}

function addToPath(folder: string, where: string): string {
  return `add "env": { "PATH": ${JSON.stringify(`${folder}:$PATH`)} } to ${where}`;
}

function namesOf(users: readonly { readonly server: string }[]): string {
  return users.map(({ server }) => server).join(", ");
}

function positionOf({ file, line }: Origin): string {
  return `${file}:${line}`;
}

/** Checks whether packages that are downloaded at a server's start have an exact version. */
export function checkPackages(definitions: readonly ServerDefinition[]): readonly Observation[] {
  const fetched = definitions.flatMap(({ name: server, transport }) => {
    const download = transport.kind === "stdio" ? findDownload(transport.command, transport.args) : undefined;
    return download ? [{ server, ...download, name: hideInWords(download.name) }] : [];
  });
  const pinned = fetched.filter((one) => one.pinned);
  return [
    ...(fetched.length === 0 ? [nothingFetched] : []),
    ...(pinned.length === 0 ? [] : [pinnedLine(pinned)]),
    ...fetched.filter((one) => !one.pinned).map(unpinned),
  ];
}

const nothingFetched: Observation = ok("no server is downloaded at start");

interface Fetched {
  readonly server: string;
  readonly name: string;
  readonly from: string;
}

function pinnedLine(pinned: readonly Fetched[]): Observation {
  const words = pinned.map(({ server, name }) => `${name} (${server})`);
  return ok(`exact version: ${words.join(", ")}`);
}

function unpinned({ server, name, from }: Fetched): Observation {
  const next = `fairlead mcp pin ${toShellWord(server)}`;
  // The tag "latest" moves with every release. A tag that names a version rarely moves, so doctor reports it only as a
  // note.
  if (/:(?!latest$)[\w.-]+$/.test(name))
    return { ...note(`"${server}" runs the image ${name}: its tag can be moved to another image`, next), server };
  const message = `"${server}" runs ${name} from ${from} without an exact version: the version may change at any time`;
  return { ...warning(message, next), server };
}

// Finds the programs of servers on the same `PATH` that the servers get when they start.

interface NodeFacts {
  readonly version: string;
  readonly file: string;
  /** The path of the `node` on `PATH`, if Fairlead itself runs on a different Node. */
  readonly other?: string;
}

/** Whether and where the program of one stdio server was found. `droppedPath`: folders removed from its `PATH`. */
export interface LaunchFacts {
  readonly server: string;
  readonly origin: Origin;
  readonly command: string;
  readonly file?: string;
  /** The program in the first line of a script (`#! /usr/bin/env node`), and whether that program exists. */
  readonly interpreter?: { readonly name: string; readonly isFound: boolean };
  /** The version manager's folder with the command or interpreter, if it is not on the server's `PATH`. */
  readonly elsewhere?: Managed;
  /** The version manager's folder in which the program was found. Editors and services lack it on their `PATH`. */
  readonly managed?: Managed;
  readonly droppedPath: readonly string[];
  /** Why Fairlead refuses to start the program. */
  readonly refused?: Pick<HostError, "message" | "next" | "code">;
  /**
   * The PowerShell script with the command's name, if there is no program of that name. Windows cannot start it
   * directly.
   */
  readonly script?: string;
}

/** Node, npx and the programs of all servers. `relativePath`: relative folders on `PATH`. */
export interface ProgramFacts {
  readonly node: NodeFacts;
  readonly npx?: string;
  readonly relativePath: readonly string[];
  readonly launches: readonly LaunchFacts[];
}

/** Reads facts about the servers' programs. `servers`: the servers that may start. */
export async function readProgramFacts(
  configuration: Pick<Configuration, "environment" | "locations" | "trust">,
  servers: readonly ServerDefinition[],
): Promise<ProgramFacts> {
  const launchContext = programPlace(configuration);
  const programs = servers.flatMap((definition) =>
    definition.resolved?.kind === "stdio" ? [lookFor(definition, definition.resolved, launchContext)] : [],
  );
  return { ...(await readNodeFacts(launchContext)), launches: await Promise.all(programs) };
}

/** Reads the facts about Node, npx and `PATH`. They need no settings. */
export async function readNodeFacts(launchContext: LaunchContext): Promise<Omit<ProgramFacts, "launches">> {
  const { env, cwd, platform } = launchContext.environment;
  const written = env["PATH"] ?? systemPath;
  const { path } = await withoutUntrusted(written, launchContext);
  const find = async (command: string): Promise<string | undefined> =>
    platform === "win32" ? (await findOnWindows(command, env)).file : findProgram(command, path, cwd);
  const [node, npx] = await Promise.all([find("node"), find("npx")]);
  const file = process.execPath;
  const isOther = node !== undefined && (await realpath(node)) !== (await realpath(file));
  return {
    node: { version: process.version, file, other: isOther ? node : undefined },
    npx,
    // An empty entry in PATH means the current folder, so it counts as relative.
    relativePath: written === "" ? [] : written.split(delimiter).filter((folder) => !isAbsolute(folder)),
  };
}

async function lookFor(
  { name: server, origin }: ServerDefinition,
  transport: StdioTransport,
  launchContext: LaunchContext,
): Promise<LaunchFacts> {
  const { command } = transport;
  try {
    const { file, target, droppedPath } = await planLaunch(server, transport, launchContext);
    const path = target.env["PATH"] ?? systemPath;
    const { home, platform } = launchContext.environment;
    const base = { server, origin, command, droppedPath };
    if (platform === "win32") return { ...base, ...(await findOnWindows(command, target.env)) };
    const wanted = file === undefined ? undefined : await interpreterOf(file);
    const isFound = wanted === undefined || (await findProgram(wanted, path, target.cwd)) !== undefined;
    const missing = file === undefined ? command : isFound ? undefined : wanted;
    const elsewhere = missing === undefined ? undefined : await findElsewhere(missing, home);
    const managed = file === undefined || command.includes("/") ? undefined : await managerOf(file);
    return {
      ...base,
      file,
      interpreter: wanted === undefined ? undefined : { name: wanted, isFound },
      elsewhere,
      managed,
    };
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return { server, origin, command, droppedPath: [], refused: error };
  }
}

/** Returns the program that a script's first line (`#!`) names. */
async function interpreterOf(file: string): Promise<string | undefined> {
  const [program, argument] = await firstLine(file);
  return program !== undefined && /[/]env$/.test(program) ? argument : program;
}

/**
 * Folders of version managers. A relative path is below the home folder. `*` matches every folder, newest version
 * first.
 */
const managerFolders: readonly (readonly [manager: string, folder: string])[] = [
  ["nvm", ".nvm/versions/node/*/bin"],
  ["fnm", ".local/share/fnm/node-versions/*/installation/bin"],
  ["fnm", "Library/Application Support/fnm/node-versions/*/installation/bin"],
  ["volta", ".volta/bin"],
  ["asdf", ".asdf/shims"],
  ["mise", ".local/share/mise/shims"],
  ["pyenv", ".pyenv/shims"],
  ["bun", ".bun/bin"],
  ["deno", ".deno/bin"],
  ["cargo", ".cargo/bin"],
  ["uv or pipx", ".local/bin"],
  ["Homebrew", "/opt/homebrew/bin"],
  ["Homebrew", "/home/linuxbrew/.linuxbrew/bin"],
];

/**
 * Folders that shell startup files add to `PATH`. Editors and services, for example, do not have them on their `PATH`.
 */
const shellManagers: readonly (readonly [manager: string, folder: RegExp])[] = [
  ["nvm", /[/\\][.]nvm[/\\]versions[/\\]/],
  ["fnm", /[/\\]fnm_multishells[/\\]|[/\\]fnm[/\\]node-versions[/\\]/],
  ["volta", /[/\\][.]volta[/\\]bin$/],
  ["asdf", /[/\\][.]asdf[/\\]shims$/],
  ["mise", /[/\\]mise[/\\]shims$/],
  ["pyenv", /[/\\][.]pyenv[/\\]shims$/],
];

interface Managed {
  readonly manager: string;
  /** The version manager's folder with symbolic links resolved, because fnm puts temporary links on `PATH`. */
  readonly folder: string;
}

/** Returns the version manager's folder that has the command, if the command is not on `PATH`. */
async function findElsewhere(command: string, home: string): Promise<Managed | undefined> {
  if (command.includes("/")) return undefined;
  for (const [manager, pattern] of managerFolders)
    for (const folder of await foldersOf(pattern, home))
      if ((await findProgram(command, folder, home)) !== undefined) return { manager, folder };
  return undefined;
}

/** Returns the version manager whose folder contains the program, if any. */
async function managerOf(file: string): Promise<Managed | undefined> {
  const folder = dirname(file);
  const manager = shellManagers.find(([, pattern]) => pattern.test(folder))?.[0];
  return manager === undefined ? undefined : { manager, folder: await realpath(folder).catch(() => folder) };
}

async function foldersOf(pattern: string, home: string): Promise<readonly string[]> {
  const [before = "", after] = (pattern.startsWith("/") ? pattern : join(home, pattern)).split("*");
  if (after === undefined) return [before];
  const names = await readdir(before).catch(() => []);
  const newestFirst = names.sort((a, b) => b.localeCompare(a, "en", { numeric: true }));
  return newestFirst.map((name) => join(before, name, after));
}

interface WindowsProgram {
  readonly file?: string;
  /** A PowerShell script, which Windows cannot start as a program. */
  readonly script?: string;
}

type IsFile = (path: string) => Promise<boolean>;

/** Finds a command on Windows, where the file extension decides whether a file can be started. */
export async function findOnWindows(
  command: string,
  env: Readonly<Record<string, string | undefined>>,
  isFile: IsFile = isRegularFile,
): Promise<WindowsProgram> {
  const value = (name: string): string | undefined =>
    Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1];
  const endings = (value("PATHEXT") ?? ".COM;.EXE;.BAT;.CMD").toLowerCase().split(";");
  const hasEnding = endings.includes(win32.extname(command).toLowerCase());
  const folders = /[/\\]/.test(command) ? [""] : (value("PATH") ?? "").split(";").filter((folder) => folder !== "");
  let script: string | undefined;
  for (const folder of folders) {
    const path = folder === "" ? command : win32.join(folder, command);
    for (const ending of hasEnding ? [""] : endings)
      if (await isFile(`${path}${ending}`)) return { file: `${path}${ending}` };
    const other = path.toLowerCase().endsWith(".ps1") ? path : `${path}.ps1`;
    if (script === undefined && (await isFile(other))) script = other;
  }
  return script === undefined ? {} : { script };
}

async function isRegularFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}
