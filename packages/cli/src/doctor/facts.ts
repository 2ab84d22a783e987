/**
 * Reads the facts that the checks need: the state folder, certificates, policy files and the secret store. Also repairs
 * the state folder's permissions and renames a damaged approvals file. Doctor then reports the repair.
 */

import { randomUUID } from "node:crypto";
import { access, constants, readdir, rm, stat, statfs, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { keepPrivate } from "@fairlead/core/files/atomic/private-folder";
import { readText } from "@fairlead/core/files/read-text";
import { openSecretStore } from "@fairlead/core/files/secrets/secret-store";
import { explain, systemCode, unless } from "@fairlead/core/files/system-error";
import { findUnsafeFolder } from "@fairlead/core/files/unsafe-folder";
import { limits } from "@fairlead/core/limits";
import { readToolApprovals } from "@fairlead/core/policy/approvals";
import { lockPath, readLock } from "@fairlead/core/policy/lock/lock-file";
import { loadPolicies } from "@fairlead/core/policy/rules/load-policies";
import type { Environment } from "@fairlead/core/settings/read/paths";
import { readApprovals } from "@fairlead/core/trust/approvals";
import type { Configuration } from "@fairlead/core/trust/configuration";
import type { PolicyFacts } from "./check-settings.ts";
import { certificateVariables, type NetworkFacts, type SecretFacts, type StateFacts } from "./check-state.ts";

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
  environment: { env, platform },
  locations,
  servers,
}: Pick<Configuration, "environment" | "locations" | "servers">): Promise<SecretFacts> {
  try {
    const store = await openSecretStore({ directory: locations.state, env, platform });
    return { servers, store: { backend: store.backend, names: new Set(await store.list()) } };
  } catch (cause) {
    const error = cause instanceof HostError ? cause : new HostError("internal", explain(cause), { cause });
    return { servers, store: { error } };
  }
}
