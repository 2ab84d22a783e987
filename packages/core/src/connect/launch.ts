/** Plans the start of a stdio server: its executable file, working folder and environment. */

import type { StdioTarget } from "@fairlead/wire";
import { HostError } from "../errors.ts";
import type { StdioTransport } from "../settings/define/definition.ts";
import type { Environment } from "../settings/read/paths.ts";
import {
  findProgram,
  isUntrusted,
  isUntrustedFolder,
  type ProgramPlace,
  systemPath,
  withoutUntrusted,
} from "../trust/programs.ts";

/** The folder and the environment in which stdio servers start. */
export interface LaunchContext extends ProgramPlace {
  readonly environment: Environment;
  /** Variables that every server gets, independent of its settings. */
  readonly commonVariables?: Readonly<Record<string, string>> | undefined;
}

/** A planned start of a stdio server. */
export interface Launch {
  readonly target: StdioTarget;
  /** The executable file; absent if the command was not found. */
  readonly file?: string;
  readonly droppedPath: readonly string[];
  readonly environment: ChildEnvironment;
}

/**
 * Plans the start of a server. Nothing inside an untrusted workspace is run or used as the working folder.
 *
 * @param transport The transport with variables and secrets expanded.
 * @throws HostError `untrusted_folder`
 */
export async function planLaunch(
  serverName: string,
  transport: StdioTransport,
  context: LaunchContext,
): Promise<Launch> {
  const { root, trusted, environment } = context;
  const cwd = transport.cwd ?? (trusted ? root : environment.home);
  if (await isUntrustedFolder(cwd, context)) throw notTrusted(serverName, `would start in ${cwd}`);
  const child = childEnvironment(environment, transport.env);
  const given = searchPathOf(child.env, environment.platform);
  const { path, dropped } = await withoutUntrusted(given.value, context);
  const file = await findProgram(transport.command, path, cwd);
  if (file !== undefined && (await isUntrusted(file, context))) throw notTrusted(serverName, `would run ${file}`);
  const env: Record<string, string> = { ...child.env };
  if (given.name !== undefined) env[given.name] = path;
  Object.assign(env, context.commonVariables);
  // Starts the file that passed the trust check, even if `PATH` changes later.
  const command = file ?? transport.command;
  return {
    target: { kind: "stdio", command, args: transport.args, env, cwd },
    file,
    droppedPath: dropped,
    environment: child,
  };
}

function searchPathOf(
  env: ChildEnvironment["env"],
  platform: NodeJS.Platform,
): { readonly name?: string; readonly value: string } {
  const name = platform === "win32" ? Object.keys(env).find((key) => key.toUpperCase() === "PATH") : "PATH";
  const value = name === undefined ? undefined : env[name];
  return name === undefined || value === undefined ? { value: systemPath } : { name, value };
}

function notTrusted(serverName: string, what: string): HostError {
  return new HostError("untrusted_folder", `"${serverName}" ${what}, which is in a folder that is not trusted`, {
    serverName,
    next: "fairlead trust add",
  });
}

const everywhere: ReadonlySet<string> = new Set([
  ..."PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM TMPDIR".split(" "),
  ..."HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy".split(" "),
  ..."NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE".split(" "),
]);
const onWindows: ReadonlySet<string> = new Set([
  ..."APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 COMMONPROGRAMFILES".split(" "),
  ..."HOMEDRIVE HOMEPATH USERNAME USERPROFILE SYSTEMDRIVE SYSTEMROOT WINDIR COMSPEC PATHEXT TEMP TMP".split(" "),
  ..."OS NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE".split(" "),
]);

/** Returns the sorted names of the variables that every stdio server gets from Fairlead's environment. */
export function inheritedVariables(environment: Pick<Environment, "env" | "platform">): readonly string[] {
  return childEnvironment(environment, new Map()).passed;
}

/** The environment variables of a stdio server, and where each variable comes from. */
interface ChildEnvironment {
  /** All variables that the process gets. */
  readonly env: Readonly<Record<string, string>>;
  /** Sorted names of variables that are copied from Fairlead's environment. */
  readonly passed: readonly string[];
  /** Sorted names of variables that the `env` of the server's entry sets. */
  readonly set: readonly string[];
  /** Sorted names of variables in Fairlead's environment that the process does not get. */
  readonly withheld: readonly string[];
}

/**
 * Builds the environment of a stdio server from Fairlead's safe variables and the server's `env`.
 *
 * @param entry The server's expanded `env`. Its values override Fairlead's variables.
 */
export function childEnvironment(
  { env, platform }: Pick<Environment, "env" | "platform">,
  entry: ReadonlyMap<string, string>,
): ChildEnvironment {
  // Windows ignores the case of variable names.
  const sameName = (name: string): string => (platform === "win32" ? name.toUpperCase() : name);
  const named = new Set([...entry.keys()].map(sameName));
  const result: Record<string, string> = {};
  const passed: string[] = [];
  const withheld: string[] = [];
  for (const name of Object.keys(env)) {
    const value = env[name];
    const same = sameName(name);
    if (value === undefined || named.has(same)) continue;
    const isAllowed = everywhere.has(same) || (platform === "win32" && onWindows.has(same)) || name.startsWith("LC_");
    if (!isAllowed || isFunction(value)) withheld.push(name);
    else {
      passed.push(name);
      result[name] = value;
    }
  }
  // Uses `fromEntries`, because an assignment to a variable named `__proto__` would change the prototype.
  return {
    env: { ...result, ...Object.fromEntries(entry) },
    passed: passed.sort(),
    set: [...entry.keys()].sort(),
    withheld: withheld.sort(),
  };
}

/** Whether a value looks like an exported bash function. Old versions of bash would run it (Shellshock). */
function isFunction(value: string): boolean {
  return value.startsWith("()");
}
