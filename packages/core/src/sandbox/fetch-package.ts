/**
 * Fetches the package of a command such as `npx` before it runs in its sandbox: once, into a folder of this server, in a
 * sandbox of its own that reaches the package's registry and nothing else, and has no home, no secrets and no profile.
 */

import { execFile, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { StdioTarget } from "@fairlead/wire";
import { member, objectOf } from "@fairlead/wire/json";
import { parseUrl } from "@fairlead/wire/text";
import { HostError } from "../errors.ts";
import { isInside } from "../files/real-path.ts";
import type { SandboxSettings, ServerDefinition } from "../settings/define/definition.ts";
import { toShellWord } from "../text/shell-word.ts";
import { findOwnProgram, findProgram, systemPath } from "../trust/programs.ts";
import { type AssembledBox, assembleBox, type SandboxContext, type UnboxedProgram } from "./assemble-box.ts";
import { Egress, hostText } from "./egress.ts";
import { certificateFiles, environmentInside } from "./inside-environment.ts";
import { privateFolder } from "./listed-paths.ts";
import { type PackageCommand, packageCommand } from "./package-command.ts";
import { findProgramFiles } from "./program-files.ts";

/** A package that has been fetched, and the program in it. */
export interface FetchedPackage {
  /** The folder with the package and its libraries. A sandbox shows it at the same path, read-only. */
  readonly folder: string;
  readonly file: string;
  readonly args: readonly string[];
}

export interface PackageFetch {
  readonly signal?: AbortSignal | undefined;
  /** Called with each line that the installer prints. */
  readonly onLine?: ((line: string) => void) | undefined;
  /** Called when fetching begins, and when it has ended. Not called if the package is there. */
  readonly onFetching?: ((isFetching: boolean) => void) | undefined;
  /** `again`: also if the package is there. `never`: only look whether it is there. Default: if it is not there. */
  readonly when?: "again" | "never";
}

const fetchTimeout = 10 * 60_000;
const mostLines = 200;
const longestLine = 500;

/**
 * Returns the package of the command, fetched if necessary. Undefined if the command fetches nothing, or if it is not
 * there and `when` is `never`.
 *
 * @throws HostError `unreachable` if it cannot be fetched, `settings_invalid` if this command line cannot be fetched
 */
export async function fetchedPackage(
  definition: ServerDefinition,
  program: UnboxedProgram,
  context: SandboxContext,
  options: PackageFetch = {},
): Promise<FetchedPackage | undefined> {
  const { name, resolved, transport } = definition;
  const { command } = resolved?.kind === "stdio" ? resolved : { command: program.target.command };
  if (transport.kind !== "stdio") return undefined;
  const wanted = packageCommand(command, program.target.args);
  if (wanted === undefined) return undefined;
  if ("why" in wanted) {
    if (options.when === "never") return undefined;
    throw new HostError("settings_invalid", `"${name}" cannot run in a sandbox: ${wanted.why}`, {
      serverName: name,
      next: `Install the package and name its program in "command", or set "sandbox": "off" in fairlead.servers.${name}.`,
    });
  }
  const parent = join(dirname(await privateFolder(definition, context)), "packages");
  const key = createHash("sha256")
    .update(JSON.stringify([wanted.from, wanted.packages, wanted.options, wanted.registry ?? null]))
    .digest("hex");
  const present = await readNote(parent, key);
  if (options.when !== "again" && present !== undefined) {
    const found = await programIn(present, wanted).catch(() => undefined);
    if (found !== undefined) return found;
  }
  if (options.when === "never") return undefined;
  options.onFetching?.(true);
  try {
    const folder = join(parent, randomBytes(6).toString("hex"));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    try {
      await install({ definition, wanted, folder, program }, context, options);
      const found = await programIn(folder, wanted);
      await keepOnly(parent, { key, folder });
      return found;
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error instanceof HostError ? error : notFetched(name, wanted, String(error));
    }
  } finally {
    options.onFetching?.(false);
  }
}

/** The folder of the package, if the note beside it is about this package. */
async function readNote(parent: string, key: string): Promise<string | undefined> {
  const text = await readFile(join(parent, "current.json"), "utf8").catch(() => "{}");
  const note: unknown = parsed(text);
  const folder = member(note, "folder");
  if (member(note, "key") !== key || typeof folder !== "string" || !/^[0-9a-f]{12}$/.test(folder)) return undefined;
  return join(parent, folder);
}

/** Notes which folder counts from now on. Keeps the one before, because programs of other hosts may still run from it. */
async function keepOnly(
  parent: string,
  { key, folder }: { readonly key: string; readonly folder: string },
): Promise<void> {
  const note = join(parent, "current.json");
  const before = member(parsed(await readFile(note, "utf8").catch(() => "{}")), "folder");
  const now = folder.slice(parent.length + 1);
  const written = `${note}.${now}`;
  await writeFile(written, JSON.stringify({ key, folder: now }), { mode: 0o600 });
  await rename(written, note);
  const others = (await readdir(parent)).filter((one) => /^[0-9a-f]{12}$/.test(one) && one !== now && one !== before);
  for (const one of others) await rm(join(parent, one), { recursive: true, force: true });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Finds the program in the installed package, by the rule of npx. */
async function programIn(folder: string, { from, packages, program, args }: PackageCommand): Promise<FetchedPackage> {
  if (from === "PyPI") return { folder, file: await existing(join(folder, "bin", program ?? "")), args };
  const bins = join(folder, "node_modules", ".bin");
  if (program !== undefined) return { folder, file: await existing(join(bins, program)), args };
  const name = packageName(packages[0] ?? "");
  const manifest = parsed(await readFile(join(folder, "node_modules", name, "package.json"), "utf8"));
  const own = name.split("/").at(-1) ?? name;
  const bin = member(manifest, "bin");
  const names = typeof bin === "string" ? [own] : Object.keys(objectOf(bin));
  const different = new Set(Object.values(objectOf(bin)));
  const chosen = names.length === 1 || different.size === 1 ? names[0] : names.find((one) => one === own);
  if (chosen === undefined) throw new Error(`${name} has no program of its own (${names.join(", ") || "none at all"})`);
  return { folder, file: await existing(join(bins, chosen)), args };
}

async function existing(file: string): Promise<string> {
  const found = await findProgram(file, "", "/");
  if (found === undefined) throw new Error(`there is no program ${file.split("/").at(-1)} in it`);
  return found;
}

/** `@scope/name` of `@scope/name@^1.2`. */
function packageName(specification: string): string {
  const at = specification.indexOf("@", 1);
  return at < 0 ? specification : specification.slice(0, at);
}

interface Installation {
  readonly definition: ServerDefinition;
  readonly wanted: PackageCommand;
  readonly folder: string;
  readonly program: UnboxedProgram;
}

async function install(
  { definition, wanted, folder, program }: Installation,
  context: SandboxContext,
  { signal, onLine }: PackageFetch,
): Promise<void> {
  const { name } = definition;
  const searchPath = program.target.env["PATH"] ?? systemPath;
  const installer = wanted.from === "npm" ? "npm" : "uv";
  const file = await findProgram(installer, searchPath, "/");
  if (file === undefined)
    throw new HostError(
      "command_not_found",
      `"${name}" was not started: ${installer}, which fetches its package, is not on its PATH`,
      {
        serverName: name,
        next: `Install ${installer}, or set "sandbox": "off" in fairlead.servers.${name}.`,
      },
    );
  const registries = await registriesOf(wanted, definition, context);
  const { args, env } = installation(wanted, folder, registries);
  const hosts = registries.map(({ url }) => hostOf(url)).filter((host) => host !== undefined);
  const box: SandboxSettings = { read: [], write: [], hosts, tcp: [], env: [], isNamed: true, origin: undefined };
  const target: StdioTarget = {
    kind: "stdio",
    command: file,
    args,
    cwd: folder,
    env: { ...program.target.env, ...env },
  };
  const { home } = context.environment;
  const files = await findProgramFiles({ file, args: [], cwd: folder, searchPath, home });
  const certificates = await certificateFiles(program.target.env, context.environment.env);
  const refused: string[] = [];
  const egress = new Egress({
    allowed: hosts,
    // The registry of the user's own configuration may be in a private network.
    mayBePrivate: registries.every(({ isOwn }) => isOwn),
    onRefused: (wish) => void refused.push(hostText(wish)),
  });
  const assembled: AssembledBox = {
    sandbox: box,
    home: undefined,
    mounts: [
      ...[...files.shown, ...certificates].flatMap((path) => ["--ro-bind-try", path, path]),
      ...files.links
        .filter(({ path }) => !files.shown.some((shown) => isInside(path, shown)))
        .flatMap(({ path, target: to }) => ["--symlink", to, path]),
      "--bind",
      folder,
      folder,
    ],
    egress,
    workingFolder: folder,
    forwarder: wanted.from === "npm" ? undefined : await findProgram("node", searchPath, "/"),
    checks: "",
    variables: environmentInside(
      {
        ...definition,
        sandbox: box,
        transport: { kind: "stdio", command: file, args, env: new Map(Object.entries(env)), cwd: undefined },
      },
      target,
      { ...context.environment, env: {} },
      { isNode: wanted.from === "npm", needsNetwork: true },
    ),
    command: [file, ...args],
  };
  const boxed = await assembleBox(name, assembled, context);
  try {
    const lines = await run(boxed.target, { signal, onLine });
    if (lines !== undefined) {
      signal?.throwIfAborted();
      const extra = refused.length === 0 ? "" : ` (it wanted ${refused.join(", ")}, which is not its registry)`;
      throw notFetched(name, wanted, `${failureIn(lines)}${extra}`, hosts);
    }
  } finally {
    await boxed.close();
  }
  await rm(join(folder, ".cache"), { recursive: true, force: true });
}

interface Registry {
  readonly url: string;
  /** Whether the user's configuration names it, and not the entry. */
  readonly isOwn: boolean;
  readonly scope?: string;
}

async function registriesOf(
  wanted: PackageCommand,
  { transport }: ServerDefinition,
  context: SandboxContext,
): Promise<readonly Registry[]> {
  if (wanted.registry !== undefined) return [{ url: wanted.registry, isOwn: false }];
  const { env } = context.environment;
  if (wanted.from === "PyPI") {
    const url = env["UV_DEFAULT_INDEX"] ?? env["UV_INDEX_URL"];
    if (url !== undefined) return [{ url, isOwn: true }];
    return ["https://pypi.org/simple", "https://files.pythonhosted.org"].map((one) => ({ url: one, isOwn: true }));
  }
  const ofEntry = transport.kind === "stdio" ? [...transport.env] : [];
  const [, chosen] = ofEntry.find(([key]) => key.toLowerCase() === "npm_config_registry") ?? [];
  if (chosen !== undefined) return [{ url: chosen, isOwn: false }];
  const scopes = [...new Set(wanted.packages.flatMap((one) => /^(@[^/]+)\//.exec(one)?.[1] ?? []))];
  const [usual = npmRegistry, ...ofScopes] = await Promise.all([
    npmSetting("registry", context),
    ...scopes.map((scope) => npmSetting(`${scope}:registry`, context)),
  ]);
  return [
    { url: usual, isOwn: true },
    ...scopes.flatMap((scope, at) => {
      const url = ofScopes[at];
      return url === undefined ? [] : [{ url, isOwn: true, scope }];
    }),
  ];
}

const npmRegistry = "https://registry.npmjs.org/";

/**
 * Asks npm itself, because its settings are in several files. It runs outside of the sandbox, so it is the user's own npm,
 * and gets nothing that the entry sets: a variable such as `NODE_OPTIONS` would run the entry's code here.
 */
async function npmSetting(key: string, context: SandboxContext): Promise<string | undefined> {
  const npm = await findOwnProgram("npm", context);
  if (npm === undefined) return undefined;
  const { home } = context.environment;
  const env = { PATH: npm.env["PATH"], HOME: home };
  return new Promise((resolve) => {
    execFile(npm.file, ["config", "get", key], { cwd: home, env, timeout: 30_000 }, (_, stdout) => {
      const url = stdout.trim();
      resolve(/^https?:\/\//.test(url) ? url : undefined);
    });
  });
}

function hostOf(url: string): string | undefined {
  const parsedUrl = parseUrl(url);
  if (parsedUrl === undefined) return undefined;
  return `${parsedUrl.hostname}:${parsedUrl.port || (parsedUrl.protocol === "http:" ? 80 : 443)}`;
}

/** The installer's arguments and variables. Install scripts do not run. */
function installation(
  { from, packages, options }: PackageCommand,
  folder: string,
  registries: readonly Registry[],
): { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> } {
  if (from === "PyPI") {
    const [own = "", ...others] = packages;
    return {
      args: ["tool", "install", "--no-config", ...options, ...others.flatMap((one) => ["--with", one]), "--", own],
      env: {
        UV_CACHE_DIR: join(folder, ".cache"),
        UV_TOOL_DIR: join(folder, "tools"),
        UV_TOOL_BIN_DIR: join(folder, "bin"),
        UV_PYTHON_DOWNLOADS: "never",
        ...(registries.length === 1 && { UV_DEFAULT_INDEX: registries[0]?.url ?? "" }),
      },
    };
  }
  const settings = registries.map(({ url, scope }) => `--${scope === undefined ? "" : `${scope}:`}registry=${url}`);
  return {
    args: [
      ..."install --ignore-scripts --no-audit --no-fund --no-update-notifier --no-save --loglevel=http".split(" "),
      ..."--fetch-retries=1 --fetch-retry-mintimeout=1000".split(" "),
      ...settings,
      `--cache=${join(folder, ".cache")}`,
      `--prefix=${folder}`,
      "--",
      ...packages,
    ],
    env: {},
  };
}

/** Runs the installer. Returns its last lines if it fails, and undefined if it works. */
async function run(
  { command, args, inputs = [] }: StdioTarget,
  { signal, onLine }: Pick<PackageFetch, "signal" | "onLine">,
): Promise<readonly string[] | undefined> {
  const late = AbortSignal.timeout(fetchTimeout);
  const child = spawn(command, [...args], {
    cwd: "/",
    env: {},
    stdio: ["ignore", "pipe", "pipe", ...inputs.map(() => "pipe" as const)],
    signal: signal === undefined ? late : AbortSignal.any([late, signal]),
    killSignal: "SIGKILL",
  });
  for (const [index, bytes] of inputs.entries()) {
    const pipe = child.stdio[3 + index];
    if (!pipe || !("end" in pipe)) continue;
    pipe.on("error", () => pipe.destroy());
    pipe.end(bytes);
  }
  const lines: string[] = [];
  const take = (line: string): void => {
    lines.push(line);
    if (lines.length > mostLines) lines.shift();
    onLine?.(line);
  };
  for (const stream of [child.stdout, child.stderr]) {
    let rest = "";
    stream?.setEncoding("utf8").on("data", (text: string) => {
      const parts = (rest + text).split(/\r?\n/);
      rest = (parts.pop() ?? "").slice(0, longestLine);
      for (const part of parts) take(part.slice(0, longestLine));
    });
    stream?.once("end", () => rest !== "" && take(rest));
  }
  const code = await new Promise<number | null>((resolve) => {
    child.once("error", () => {});
    child.once("close", resolve);
  });
  if (code === 0) return undefined;
  return late.aborted ? [...lines, `it took longer than ${fetchTimeout / 60_000} minutes`] : lines;
}

/** The line that says why: npm writes several, and ends with where its log is. */
function failureIn(lines: readonly string[]): string {
  const errors = lines.flatMap((line) => /^(?:npm (?:error|ERR!)|error:)\s+(.*\S)/.exec(line)?.[1] ?? []);
  const telling = errors.filter((line) => !/^(?:code|errno|syscall|A complete log|\d+$)/.test(line));
  return telling[0] ?? errors[0] ?? lines.findLast((line) => line.trim() !== "") ?? "the installer printed no message";
}

function notFetched(
  serverName: string,
  { packages }: PackageCommand,
  why: string,
  hosts: readonly string[] = [],
): HostError {
  const where = hosts.length === 0 ? "" : ` from ${hosts.map((host) => host.replace(/:443$/, "")).join(" and ")}`;
  return new HostError(
    "unreachable",
    `"${serverName}" was not started: ${packages.join(", ")} could not be fetched${where}: ${why}`,
    { serverName, next: `fairlead mcp sandbox ${toShellWord(serverName)} --fetch` },
  );
}
