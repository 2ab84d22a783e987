/** Checks Fairlead's state folder and the secret store. Pure functions. */

import { randomUUID } from "node:crypto";
import { access, constants, readdir, rm, stat, statfs, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { hideInUrl } from "@fairlead/console/server/words/server-redaction";
import { findSecretProgram } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import {
  explain,
  findUnsafeFolder,
  keepPrivate,
  openSecretStore,
  readText,
  type SecretStore,
  systemCode,
  type UnsafeFolder,
  unless,
} from "@fairlead/core/files";
import { limits } from "@fairlead/core/limits";
import { hidden, sizeWords, toShellWord } from "@fairlead/core/plain-text";
import { loadPolicies, lockPath, readLock, readToolApprovals } from "@fairlead/core/policy";
import { commandWords, type Environment } from "@fairlead/core/settings";
import { type AdmittedServer, type Configuration, programPlace, readApprovals } from "@fairlead/core/trust";
import { parseUrl } from "@fairlead/wire/text";
import type { PolicyFacts } from "./check-settings.ts";
import { note, type Observation, ok, problem, warning } from "./finding.ts";

/** The condition of Fairlead's state folder. `failure` says why it cannot be written. */
interface StateFacts {
  readonly folder: string;
  /**
   * `let in`: other users can read the folder. `kept out`: they cannot. `shut out`: doctor has just removed their
   * access.
   */
  readonly others: "kept out" | "shut out" | "let in";
  readonly failure?: string;
  /** Paths of damaged files that Fairlead has renamed. */
  readonly aside: readonly string[];
  /** Free bytes on the folder's disk, if known. */
  readonly free?: number;
  /** A folder on the way to the background host's files that lets other users replace them. */
  readonly unsafe?: UnsafeFolder;
}

/** Doctor warns if the disk has fewer free bytes than this, because catalogs, logs and results need space. */
const scarce = 50 * 1024 * 1024;

/** Reports whether the state folder is writable, private and on a disk with free space. */
export function checkState({ folder, others, failure, aside, free, unsafe }: StateFacts): readonly Observation[] {
  const message = `${folder} cannot be written (${failure}): approvals, secrets, logs and cached catalogs cannot be saved`;
  const next = `make ${folder} writable, or set FAIRLEAD_HOME to a writable folder`;
  const findings = [
    failure === undefined ? ok(`${folder} can be written`) : problem({ code: "internal", message, next }),
  ];
  if (others === "shut out")
    findings.push(note(`other users could read ${folder}; doctor has changed its permissions to 700`));
  if (others === "let in") findings.push(warning(`other users can read ${folder}`, `chmod 700 ${toShellWord(folder)}`));
  if (unsafe !== undefined)
    findings.push(
      warning(
        `other users can replace files in ${folder}: ${unsafe.path} is not safe, because ${unsafe.problem}; the background host is not used`,
        unsafe.next,
      ),
    );
  if (free !== undefined && free < scarce && failure === undefined)
    findings.push(
      warning(`the disk of ${folder} is nearly full: ${sizeWords(free)} left`, "delete files on that disk"),
    );
  if (aside.length > 0) {
    const message = `damaged files were renamed: ${aside.join(", ")}; Fairlead no longer uses the data in them`;
    findings.push(warning(message, `rm ${aside.map(toShellWord).join(" ")}`));
  }
  return findings;
}

/** The configured servers and the secret store. `store` has an error if the store cannot be opened. */
interface SecretFacts {
  readonly servers: readonly AdmittedServer[];
  /** Where the programs of `${command:…}` are; undefined for a program that was not found. */
  readonly programs?: ReadonlyMap<string, string | undefined>;
  readonly store:
    | { readonly backend: SecretStore["backend"]; readonly names: ReadonlySet<string> }
    | { readonly error: Pick<HostError, "message" | "next" | "code"> };
}

/** Checks the secret store and the secrets that servers refer to. */
export function checkSecrets({ store, servers, programs }: SecretFacts): readonly Observation[] {
  const printed = servers.flatMap((server) => checkCommands(server, programs));
  if ("error" in store) return [problem(store.error), ...printed];
  const { backend, names } = store;
  const storage = backend === "keychain" ? "the system's keychain" : "an encrypted file (no keychain in use)";
  return [
    ok(`${names.size} stored in ${storage}`),
    ...servers.flatMap(({ server, admission }) =>
      (server.definition?.secrets ?? [])
        .filter((name) => !names.has(name))
        .map((name): Observation => {
          const mayStart = admission.status === "admitted";
          return {
            severity: mayStart ? "problem" : "note",
            server: server.name,
            message: `"${server.name}" needs the secret ${name}, which is not stored`,
            next: `fairlead secret set ${name}`,
            code: mayStart ? "variable_unset" : undefined,
          };
        }),
    ),
    ...printed,
  ];
}

/** Checks that the programs of `${command:…}` exist. Runs none of them. */
function checkCommands(
  { server, admission }: AdmittedServer,
  programs: SecretFacts["programs"] = new Map(),
): readonly Observation[] {
  const names = new Set((server.definition?.commands ?? []).map(programOf));
  return [...names].map((name): Observation => {
    const file = programs.get(name);
    if (file !== undefined) return ok(`"${server.name}" gets a secret from ${name} (${file}) when it connects`);
    const mayStart = admission.status === "admitted";
    return {
      severity: mayStart ? "problem" : "note",
      server: server.name,
      message: `"${server.name}" gets a secret from ${name}, and this program was not found`,
      next: "install it, or correct the command in your settings",
      code: mayStart ? "variable_unset" : undefined,
    };
  });
}

function programOf(line: string): string {
  const split = commandWords(line);
  return "words" in split ? (split.words[0] ?? "") : "";
}

// Checks proxy and certificate variables, and hides passwords in their values. Pure functions.

/** Environment variables that name additional certificate files or folders. */
export const certificateVariables = [
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
] as const;

/** What the network check needs: environment variables, invalid certificate files, and whether a server has a URL. */
interface NetworkFacts extends Pick<Environment, "env"> {
  /** What is wrong with each invalid certificate file, by the name of its environment variable. */
  readonly badCertificates: ReadonlyMap<string, string>;
  /** Whether any server has a URL. If none has, the proxy does not matter. */
  readonly isUsed: boolean;
}

/** Reports the proxy and certificate settings, and warns if certificates are not checked. */
export function checkNetwork({ env, badCertificates, isUsed }: NetworkFacts): readonly Observation[] {
  const good = certificateVariables.filter((name) => (env[name] ?? "") !== "" && !badCertificates.has(name));
  return [
    ...proxies(env, isUsed),
    ...(good.length === 0 ? [] : [ok(`certificates from ${good.join(", ")}`)]),
    ...[...badCertificates].map(([name, flaw]) =>
      warning(`${name} (${env[name]}) has no effect: ${flaw}`, `unset ${name}`),
    ),
    ...(env["NODE_TLS_REJECT_UNAUTHORIZED"] === "0" ? [unchecked] : []),
  ];
}

const unchecked: Observation = warning(
  "NODE_TLS_REJECT_UNAUTHORIZED is 0: certificates are not checked, so an attacker on the network can impersonate any server",
  "unset NODE_TLS_REJECT_UNAUTHORIZED",
);

type Env = Environment["env"];

function proxies(env: Env, isUsed: boolean): readonly Observation[] {
  const found = ["https_proxy", "http_proxy", "all_proxy"].flatMap((name) => proxy(name, env, isUsed));
  const direct = settingOf("no_proxy", env);
  if (found.length === 0) return [ok("no proxy")];
  if (direct === undefined) return found;
  return [
    ...found,
    direct.value.trim() === "*"
      ? note(`no proxy is used: ${direct.name} is *`, `unset ${direct.name}`)
      : ok(`without proxy: ${hideAccount(direct.value)}`),
  ];
}

function proxy(name: string, env: Env, isUsed: boolean): readonly Observation[] {
  const set = settingOf(name, env);
  if (set === undefined) return [];
  const other = env[name.toUpperCase()] ?? "";
  const differs: Observation = warning(
    `${name} and ${name.toUpperCase()} differ; ${name} is used`,
    `unset ${name.toUpperCase()}`,
  );
  return [
    isProxy(set.value) ? named(set) : noProxy(set.name, isUsed),
    ...(other !== "" && other !== set.value ? [differs] : []),
  ];
}

/**
 * Reports a valid proxy variable. Warns about a plain host name, because the scheme and port were probably forgotten.
 */
function named({ name, value }: Setting): Observation {
  const shown = hideAccount(value);
  if (value.includes("://") || /:\d+\/?$/.test(value)) return ok(`${name} is ${shown}`);
  return warning(
    `${name} is ${shown}, which has no scheme and no port: Fairlead uses the value as a host name`,
    `export ${name}=http://HOST:PORT`,
  );
}

/**
 * Hides the name and password in a proxy URL: everything before the last "@", because an unencoded password may contain
 * "@" or "/".
 */
function hideAccount(value: string): string {
  return hideInUrl(value.replace(/^(https?:\/\/)?.*@/is, `$1${hidden}@`));
}

/** Reports an invalid proxy variable without its value, because the value may contain a password at any place. */
function noProxy(name: string, isUsed: boolean): Observation {
  return {
    severity: isUsed ? "problem" : "warning",
    code: isUsed ? "proxy" : undefined,
    message: `${name} is not a proxy URL: it must be http://HOST:PORT or https://HOST:PORT`,
    next: `export ${name}=http://HOST:PORT`,
  };
}

/** Whether the value is a proxy URL. A value without a scheme is valid too. */
function isProxy(value: string): boolean {
  const text = value.includes("://") ? value : `http://${value}`;
  return /^https?:$/.test(parseUrl(text)?.protocol ?? "");
}

interface Setting {
  readonly name: string;
  readonly value: string;
}

/** Reads a proxy variable. The lower-case name takes precedence over the upper-case name, as in most programs. */
function settingOf(name: string, env: Env): Setting | undefined {
  for (const spelling of [name, name.toUpperCase()]) {
    const value = env[spelling] ?? "";
    if (value !== "") return { name: spelling, value };
  }
  return undefined;
}

// Reads the facts that the checks need: the state folder, certificates, policy files and the secret store. Also
// repairs the state folder's permissions and renames a damaged approvals file. Doctor then reports the repair.

/** Bytes that doctor writes to check that the disk is not full. An empty file can be created even on a full disk. */
const probeBytes = 65_536;
const forOthers = 0o077;
const sticky = 0o1000;

/** Checks the state folder. Makes it private if other users could read it. */
export async function readStateFacts(folder: string): Promise<StateFacts> {
  const wasOpen = await isOpen(folder);
  if (wasOpen) await keepPrivate(folder);
  // This call renames a damaged approvals file, so that `listAside` finds it. The policy check reports errors.
  await readApprovals(folder).catch(() => undefined);
  const [failure, aside, free] = await Promise.all([tryToWrite(folder), listAside(folder), freeBytes(folder)]);
  const unsafe = findUnsafeFolder(join(folder, "run"), process.getuid?.());
  return {
    folder,
    others: !wasOpen ? "kept out" : (await isOpen(folder)) ? "let in" : "shut out",
    failure,
    aside,
    free,
    unsafe,
  };
}

/**
 * Whether other users can access the folder. False on Windows, which has no permission bits, and for a sticky folder
 * such as /tmp, which is shared by design.
 */
async function isOpen(folder: string): Promise<boolean> {
  const found = await stat(folder).catch(unless("ENOENT", "ENOTDIR", "EACCES"));
  if (found?.isDirectory() !== true || process.platform === "win32") return false;
  return (found.mode & forOthers) !== 0 && (found.mode & sticky) === 0;
}

async function tryToWrite(folder: string): Promise<string | undefined> {
  const probe = join(folder, `.doctor-${randomUUID()}`);
  try {
    await writeFile(probe, Buffer.alloc(probeBytes), { flag: "wx", mode: 0o600 });
    return undefined;
  } catch (error) {
    return systemCode(error) === "ENOENT" ? await whyNotMade(folder) : explain(error);
  } finally {
    await rm(probe, { force: true }).catch(unless("EACCES", "EPERM", "EROFS", "ENOTDIR"));
  }
}

/** Returns why the folder cannot be created in its nearest existing parent. Returns undefined if it can be created. */
async function whyNotMade(folder: string): Promise<string | undefined> {
  const parent = dirname(folder);
  try {
    await access(parent, constants.W_OK | constants.X_OK);
    return (await stat(parent)).isDirectory() ? undefined : "a part of its path is a file, not a folder";
  } catch (error) {
    return systemCode(error) === "ENOENT" && parent !== folder ? whyNotMade(parent) : explain(error);
  }
}

async function listAside(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  return names.filter((name) => /[.]corrupt-[\dT:.Z-]+$/.test(name)).map((name) => join(folder, name));
}

async function freeBytes(folder: string): Promise<number | undefined> {
  const disk = await statfs(folder).catch(() => undefined);
  return disk && disk.bavail * disk.bsize;
}

/** Reads the certificate files that environment variables name. */
export async function readNetworkFacts({ env }: Environment): Promise<Omit<NetworkFacts, "isUsed">> {
  const looked = certificateVariables.map(async (name): Promise<readonly [string, string | undefined]> => {
    const path = env[name] ?? "";
    return [name, path === "" ? undefined : await flawOf(path)];
  });
  const flaws = await Promise.all(looked);
  return { env, badCertificates: new Map(flaws.flatMap(([name, flaw]) => (flaw === undefined ? [] : [[name, flaw]]))) };
}

/** Returns what is wrong with a certificate file. Returns undefined for a valid file or a folder of certificates. */
async function flawOf(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(explain);
  if (typeof found === "string") return found.startsWith("ENOENT") ? "the file does not exist" : found;
  if (found.isDirectory()) return undefined;
  const read = await readText(path, limits.settingsBytes);
  if (read.kind === "absent") return "the file does not exist";
  if (read.kind === "unreadable") return read.reason;
  return read.text.includes("-----BEGIN ") ? undefined : "the file contains no PEM certificate";
}

/** Reads policy files, approvals and the lock file as a host does. */
export async function readPolicyFacts(configuration: Configuration): Promise<PolicyFacts> {
  const { locations, settings, trust } = configuration;
  const lock = trust.trusted ? lockPath(locations) : undefined;
  const [{ problems, files }, ...failures] = await Promise.all([
    loadPolicies(configuration),
    failureOf(readToolApprovals(locations.state)),
    lock === undefined ? undefined : failureOf(readLock(lock)),
  ]);
  // The settings check reports problems in settings files, so they are left out here.
  const told = new Set(settings.gateProblems.map(({ message }) => message));
  return {
    problems: problems.filter(({ message }) => !told.has(message)),
    files,
    failures: failures.flatMap((failure) => failure ?? []),
  };
}

async function failureOf(reading: Promise<unknown>): Promise<HostError | undefined> {
  try {
    await reading;
    return undefined;
  } catch (error) {
    if (error instanceof HostError) return error;
    throw error;
  }
}

/** Opens the secret store and reads the names of secrets, never their values. */
export async function readSecretFacts({
  environment: { env, platform, home },
  locations,
  servers,
  ...configuration
}: Pick<Configuration, "environment" | "locations" | "servers" | "trust">): Promise<SecretFacts> {
  const surroundings = programPlace({ ...configuration, environment: { env, platform, home }, locations });
  const names = new Set(servers.flatMap(({ server }) => (server.definition?.commands ?? []).map(programOf)));
  const programs = new Map(
    await Promise.all(
      [...names].map(async (name) => [name, (await findSecretProgram(name, surroundings))?.file] as const),
    ),
  );
  try {
    const store = await openSecretStore({ directory: locations.state, env, platform });
    return { servers, programs, store: { backend: store.backend, names: new Set(await store.list()) } };
  } catch (cause) {
    const error = cause instanceof HostError ? cause : new HostError("internal", explain(cause), { cause });
    return { servers, programs, store: { error } };
  }
}
