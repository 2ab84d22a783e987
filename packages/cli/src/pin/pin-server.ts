/**
 * Finds the exact version of a server's package, and the argument of the entry that names the package. Writes nothing.
 */

import { execFile } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  type Download,
  findDownload,
  type LaunchContext,
  planLaunch,
  type ReadSecret,
  withCommands,
} from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import { openSecretStore, readText } from "@fairlead/core/files";
import { limits } from "@fairlead/core/limits";
import { toShellWord } from "@fairlead/core/plain-text";
import { initialServerState, notConnectedError } from "@fairlead/core/server";
import {
  type ArgumentChange,
  expandTransport,
  type ServerDefinition,
  type StdioTransport,
} from "@fairlead/core/settings";
import { type AdmittedServer, type Configuration, programPlace } from "@fairlead/core/trust";
import { isObject, listOf, member } from "@fairlead/wire/json";

/** The changed argument. `note` tells that the version comes from npx's cache. */
export interface VersionPin extends ArgumentChange {
  readonly note?: string;
}

/** Returns the package or image that the server downloads when it starts. Returns undefined if it downloads nothing. */
export function downloadOf({ transport }: Pick<ServerDefinition, "transport">): Download | undefined {
  return transport.kind === "stdio" ? findDownload(transport.command, transport.args) : undefined;
}

/**
 * Returns the change that puts the exact version into the entry. Returns undefined if the version is already exact.
 * @throws HostError if no exact version can be found
 */
export async function pinServer(
  found: AdmittedServer,
  configuration: Configuration,
  signal: AbortSignal,
): Promise<VersionPin | undefined> {
  const { environment, locations } = configuration;
  const { name } = found.server;
  const definition = usable(found);
  const download = downloadOf(definition);
  if (download === undefined || definition.transport.kind !== "stdio")
    throw unfit(name, "cannot be pinned: its command does not download a package or image");
  if (download.pinned) return undefined;
  if (download.name.includes("$"))
    throw unfit(name, `cannot be pinned: its package name ${download.name} contains a variable`);
  const { at } = download;
  const before = definition.transport.args[at] ?? "";
  const { env, platform } = environment;
  const stored: ReadSecret = async (secret) =>
    (await openSecretStore({ directory: locations.state, env, platform })).get(secret);
  const transport = await expandTransport(definition, withCommands(stored, programPlace(configuration)));
  const expanded = transport.kind === "stdio" ? findDownload(transport.command, transport.args) : undefined;
  if (transport.kind !== "stdio" || expanded?.at !== at)
    throw unfit(name, "cannot be pinned: its variables change which argument names the package");
  const options = transport.args.slice(0, at);
  const { name: exact, note } = await resolveExactName({
    server: name,
    download: { ...expanded, name: download.name },
    options,
    isOption: before !== download.name || options.at(-1) === "--from",
    env: transport.env,
    home: environment.home,
    run: createRunner({
      serverName: name,
      transport,
      launchContext: programPlace(configuration),
      signal,
    }),
  });
  const after = before.slice(0, before.length - download.name.length) + exact;
  return { at, before, after, note };
}

/**
 * Refuses a workspace server that the user has not approved: finding its version runs a program with the entry's
 * variables.
 */
function usable({ server, admission }: AdmittedServer): ServerDefinition {
  const { name, scope, definition, origin } = server;
  if (scope !== "user" && scope !== "workspace")
    throw new HostError("usage", `"${name}" is in ${origin.file}, a system file that Fairlead does not edit`);
  const mayRun = scope === "user" || admission.status === "admitted";
  if (!mayRun || definition === undefined) throw notConnectedError(initialServerState(name, admission, 0));
  return definition;
}

function unfit(serverName: string, why: string): HostError {
  return new HostError("usage", `"${serverName}" ${why}`, { serverName });
}

/**
 * Returns the package or image name with its exact version.
 * @throws HostError if no exact version can be found
 */
export function resolveExactName(wanted: PinRequest): Promise<ExactName> {
  switch (wanted.download.from) {
    case "npm":
      return npmVersion(wanted);
    case "PyPI":
      return pythonVersion(wanted);
    case "an image registry":
      return imageDigest(wanted);
  }
}

const image = /^[\w][\w.:/-]*$/;

/** Finds the digest of the local image with a given name. */
async function imageDigest({ server, download, run }: PinRequest): Promise<ExactName> {
  const { name, launcher } = download;
  if (!image.test(name))
    throw new HostError("usage", `"${server}" cannot be pinned: ${name} is not an image name`, { serverName: server });
  const { isDone, stdout, stderr } = await run(launcher, [
    "image",
    "inspect",
    "--format",
    "{{json .RepoDigests}}",
    name,
  ]);
  if (!isDone)
    throw /no such image|image not known/i.test(stderr)
      ? new HostError("usage", `image ${name} not found on this machine`, {
          serverName: server,
          next: `${toShellWord(launcher)} pull ${name}`,
        })
      : new HostError(
          "unreachable",
          `${launcher} cannot read the digest of ${name}: ${stderr.trim() || "it printed no error message"}`,
          { serverName: server },
        );
  const digests = [...stdout.matchAll(/"([^"@]+)@(sha256:[0-9a-f]{64})"/g)];
  const repository = name.replace(/:[\w.-]+$/, "");
  const [, , digest] = digests.find(([, owner]) => owner === repository) ?? digests[0] ?? [];
  if (digest === undefined)
    throw new HostError("usage", `image ${name} has no digest: it was built on this machine`, {
      serverName: server,
      next: "push the image to a registry, and pull it",
    });
  return { name: `${name}@${digest}` };
}

/** Matches a Python package: its name, its extras, and an optional version range. */
const specification = /^([A-Za-z0-9][\w.-]*)(\[[\w,.-]*\])?((?:[<>=!~]=?|===)[\w.,<>=!~*+-]*|@latest)?$/;
/** Options that both `uvx` and `uv pip compile` accept. */
const sharedOptions = ["--index", "--index-url", "--default-index", "--python"];

/** Uses `uv pip compile` to find the version of a Python package that `uvx` would run now. */
async function pythonVersion({ server, download, options, isOption, run }: PinRequest): Promise<ExactName> {
  const { name: written, launcher } = download;
  const [, name, extras = "", range = ""] = specification.exec(written) ?? [];
  if (name === undefined || !/(?:^|[/\\])uvx?(?:\.exe)?$/.test(launcher))
    throw new HostError(
      "usage",
      `"${server}" cannot be pinned: Fairlead does not support ${written} with ${launcher}`,
      { serverName: server, next: "write the exact version yourself: PACKAGE==VERSION" },
    );
  const uv = /[/\\]/.test(launcher) ? join(dirname(launcher), "uv") : "uv";
  const requirement = `${name}${extras}${range === "@latest" ? "" : range}`;
  const asked = [
    "pip",
    "compile",
    "--no-deps",
    "--no-header",
    "--no-annotate",
    ...passedOn(options, sharedOptions),
    "-",
  ];
  const { isDone, stdout, stderr } = await run(uv, asked, `${requirement}\n`);
  const lines = stdout.split("\n").map((line) => /^([\w.-]+)(?:\[[^\]]*\])?==([\w.+!-]+)/.exec(line));
  const version = lines.find((found) => normal(found?.[1] ?? "") === normal(name))?.[2];
  if (!isDone || version === undefined)
    throw new HostError("unreachable", `version of ${written} not found: uv: ${lastLine(stderr)}`, {
      serverName: server,
      next: "try again with a network connection, or write PACKAGE==VERSION yourself",
    });
  // `uvx --from` takes `NAME==VERSION`. `uvx` without `--from` takes `NAME@VERSION`.
  return { name: `${name}${extras}${isOption ? "==" : "@"}${version}` };
}

/** Returns the normal form of a Python package name, in which `_`, `.` and `-` are the same character. */
function normal(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, "-");
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) || "it printed no error message";
}

/** Matches an npm package with an optional tag or version range. Allows no characters that are special in a shell. */
const npmSpecification = /^((?:@[\w.~-]+\/)?[\w.~-]+)(?:@([\w.~^*-]+))?$/;
const exactVersion = /^\d+\.\d+\.\d+[\w.+-]*$/;
const notReached =
  /^(?:ENOTFOUND|EAI_AGAIN|ECONN\w+|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENOTCACHED)$/;

/**
 * Finds the version of an npm package that would run now: from the registry, or from npx's cache if the machine is
 * offline.
 */
async function npmVersion(wanted: PinRequest): Promise<ExactName> {
  const { server, download, options, run } = wanted;
  const [, name, tag] = npmSpecification.exec(download.name) ?? [];
  if (name === undefined)
    throw new HostError("usage", `"${server}" cannot be pinned: ${download.name} is not a package name`, {
      serverName: server,
      next: "use a package from the npm registry",
    });
  const registry = passedOn(options, ["--registry"]);
  const asked = ["view", download.name, "version", "--json", "--fetch-retries=0", ...registry];
  const { stdout, stderr } = await run(npmOf(download.launcher), asked);
  const answer = parse(stdout);
  const version: unknown = Array.isArray(answer) ? listOf(answer).at(-1) : answer;
  if (typeof version === "string" && exactVersion.test(version)) return { name: `${name}@${version}` };
  const failure = member(answer, "error");
  const code = textOf(member(failure, "code"));
  if (notReached.test(code)) return cached({ name, tag, code }, wanted);
  const said = firstLine(textOf(member(failure, "summary"))) ?? firstLine(stderr) ?? "it printed no error message";
  const why = code === "E404" ? "no such package" : said;
  throw new HostError("unreachable", `version of ${download.name} not found: npm: ${why}`, {
    serverName: server,
    next: `npm view ${download.name} version`,
  });
}

/** Returns the npm command. If the entry starts npx or npm by its path, this is the npm in the same folder. */
function npmOf(launcher: string): string {
  return /[/\\]np[mx](?:\.cmd)?$/.test(launcher) ? join(dirname(launcher), "npm") : "npm";
}

interface Missed {
  readonly name: string;
  readonly tag: string | undefined;
  readonly code: string;
}

/** Returns the version that npx downloaded last, which npx runs if the machine is offline. */
async function cached({ name, tag, code }: Missed, { server, env, home }: PinRequest): Promise<ExactName> {
  const cache = env.get("npm_config_cache") ?? env.get("NPM_CONFIG_CACHE") ?? join(home, ".npm");
  const folder = join(cache, "_npx");
  // If the folder does not exist, npx has downloaded nothing yet.
  const runs = tag === undefined || tag === "latest" ? await readdir(folder).catch(() => []) : [];
  const files = runs.map((run) => join(folder, run, "node_modules", name, "package.json"));
  const found = (await Promise.all(files.map(readVersion))).flatMap((one) => one ?? []);
  const [latest] = found.sort((a, b) => b.time - a.time);
  if (latest)
    return {
      name: `${name}@${latest.version}`,
      note: "the registry cannot be reached; this version is from npx's cache",
    };
  throw new HostError("unreachable", `the registry cannot be reached (${code}), and npx has not downloaded ${name}`, {
    serverName: server,
    next: "try again with a network connection",
  });
}

async function readVersion(file: string): Promise<{ readonly version: string; readonly time: number } | undefined> {
  const read = await readText(file, limits.settingsBytes);
  const version = read.kind === "text" ? member(parse(read.text), "version") : undefined;
  if (typeof version !== "string" || !exactVersion.test(version)) return undefined;
  return { version, time: (await stat(file)).mtimeMs };
}

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) || Array.isArray(value) || typeof value === "string" ? value : undefined;
  } catch {
    // Output that is not JSON counts as no reply.
    return undefined;
  }
}

function firstLine(text: string): string | undefined {
  return text.split("\n").find((line) => line.trim() !== "");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

// Runs a program with the same `PATH`, folder and variables that its server would get.

interface Ran {
  readonly isDone: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

type RunProgram = (program: string, args: readonly string[], stdin?: string) => Promise<Ran>;

/** The server whose `PATH`, folder and variables the program gets, and the signal that stops the program. */
interface RunOptions {
  readonly serverName: string;
  /** The transport with its variables expanded. */
  readonly transport: StdioTransport;
  readonly launchContext: LaunchContext;
  readonly signal: AbortSignal;
}

const longestRun = 60_000;
const mostBytes = 16 * 1024 * 1024;

/** Creates a function that runs programs in the server's environment and returns their output. */
function createRunner({ serverName, transport, launchContext, signal }: RunOptions): RunProgram {
  return async (command, args, stdin = "") => {
    const { file, target } = await planLaunch(serverName, { ...transport, command, args }, launchContext);
    const isWindows = launchContext.environment.platform === "win32";
    if (file === undefined && !isWindows)
      throw new HostError("command_not_found", `"${command}" is not on the PATH of "${serverName}"`, {
        serverName,
        next: "fairlead doctor",
      });
    const options = {
      cwd: target.cwd,
      env: { ...target.env },
      signal,
      timeout: longestRun,
      maxBuffer: mostBytes,
      // On Windows, npm is a script that needs a shell. The shell is safe here: no argument has shell characters.
      shell: isWindows && command.endsWith("npm"),
    };
    return new Promise((resolve, reject) => {
      const child = execFile(file ?? command, [...args], options, (error, stdout, stderr) => {
        if (signal.aborted) reject(new HostError("cancelled", "cancelled; nothing was changed"));
        else if (error?.killed === true) reject(tooSlow(command, serverName));
        else resolve({ isDone: error === null, stdout, stderr });
      });
      // Writing fails if the program exits before it reads stdin. The program's own error is reported instead.
      child.stdin?.on("error", () => child.stdin?.destroy());
      child.stdin?.end(stdin);
    });
  };
}

function tooSlow(command: string, serverName: string): HostError {
  return new HostError("unreachable", `${command} timed out after ${longestRun / 1000} s`, {
    serverName,
    next: "try again with a network connection",
  });
}

/** The package whose exact version is to be found, and how the server's entry starts it. */
export interface PinRequest {
  readonly server: string;
  readonly download: Download;
  /** The options of the launcher (such as `npx` or `uvx`) before the package name, with variables expanded. */
  readonly options: readonly string[];
  /** Whether the package name is the value of an option such as `--from`, not an argument of its own. */
  readonly isOption: boolean;
  /** The variables that the launcher (such as `npx`) would get. */
  readonly env: ReadonlyMap<string, string>;
  readonly home: string;
  readonly run: RunProgram;
}

/** The result of a search for an exact version. */
interface ExactName {
  /**
   * The package name with its exact version, for example `package@1.2.3`. It replaces the package name in the entry.
   */
  readonly name: string;
  /** Explains why this version was chosen, if that is not obvious. */
  readonly note?: string;
}

/**
 * Returns the options of a launcher such as `uvx` that are in `names`, with their values. Leaves out words that contain
 * shell characters.
 */
export function passedOn(options: readonly string[], names: readonly string[]): readonly string[] {
  return options.flatMap((word, at) => {
    if (!/^[\w.:/=@-]+$/.test(word)) return [];
    const isValue = names.includes(options[at - 1] ?? "");
    return isValue || names.includes(word) || names.some((name) => word.startsWith(`${name}=`)) ? [word] : [];
  });
}
