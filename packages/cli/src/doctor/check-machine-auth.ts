/**
 * Checks that the private keys and JWTs of `machineAuth` are usable and not expired, and that other users cannot read
 * the keys. Pure functions.
 */

import { stat } from "node:fs/promises";
import { claimsOf, readAssertion, readClientKey } from "@fairlead/core/auth";
import { HostError } from "@fairlead/core/errors";
import { toShellWord } from "@fairlead/core/plain-text";
import {
  describeMachineAuth,
  type Environment,
  type MachineAuthSettings,
  type ServerDefinition,
} from "@fairlead/core/settings";
import { type Observation, ok, problem, warning } from "./finding.ts";

/** A JWT that expires within this many milliseconds gets a warning. */
const soon = 60_000;

/** Reports keys and JWTs that are unusable or expired, and keys that other users can read. */
export function checkMachineAuth(facts: readonly MachineFact[], now: number = Date.now()): readonly Observation[] {
  return facts.flatMap((fact) =>
    [...ofAccess(fact), ofContent(fact, now)].map((found) => ({ ...found, server: fact.server })),
  );
}

function ofContent({ server, source, failure, algorithm, expiresAt }: MachineFact, now: number): Observation {
  if (failure !== undefined) return problem(failure);
  if (expiresAt === undefined) return ok(`${source} is usable (${algorithm ?? "JWT"})`);
  const moment = new Date(expiresAt).toISOString();
  if (expiresAt <= now)
    return problem({
      code: "auth_failed",
      message: `the JWT of "${server}" in ${source} expired at ${moment}`,
      next: "check the program that renews the JWT, and this machine's clock",
    });
  return expiresAt - now < soon
    ? warning(`the JWT of "${server}" in ${source} expires at ${moment}`, "check the program that renews the JWT")
    : ok(`${source} is usable until ${moment}`);
}

function ofAccess({ server, file, othersCanRead }: MachineFact): readonly Observation[] {
  if (file === undefined || !othersCanRead) return [];
  return [warning(`other users can read ${file}, the private key of "${server}"`, `chmod 600 ${toShellWord(file)}`)];
}

// Checks whether the private keys and JWTs that `machineAuth` names are usable. Never reports their content.

/** A private key or JWT that a server's `machineAuth` names. */
interface MachineFact {
  readonly server: string;
  /** Where the key or JWT comes from, such as `~/.keys/client.pem` or `the variable TOKEN`. */
  readonly source: string;
  /** The file that contains the private key. */
  readonly file?: string;
  /** Whether other users of this machine can read the file with the private key. */
  readonly othersCanRead: boolean;
  /** The algorithm of the private key, if the key is usable. */
  readonly algorithm?: string;
  /** When the JWT expires, in milliseconds since 1970. */
  readonly expiresAt?: number;
  /** Why the key or JWT cannot be used. */
  readonly failure?: HostError;
}

const forOthers = 0o077;

/** Reads the keys and JWTs of all servers with `machineAuth`. Sends nothing over the network. */
export async function readMachineFacts(
  definitions: readonly ServerDefinition[],
  environment: Environment,
): Promise<readonly MachineFact[]> {
  const facts = definitions.map(async (definition) => {
    const settings = describeMachineAuth(definition);
    if (settings === undefined) return [];
    const { name: server } = definition;
    return [...(await keyFact(settings, server)), ...(await assertionFact(settings, server, environment))];
  });
  return (await Promise.all(facts)).flat();
}

async function keyFact(settings: MachineAuthSettings, server: string): Promise<readonly MachineFact[]> {
  const { privateKeyFile: file } = settings;
  if (file === undefined) return [];
  const fact = { server, source: file, file, othersCanRead: await canOthersRead(file) };
  try {
    return [{ ...fact, algorithm: (await readClientKey({ settings, serverName: server })).algorithm }];
  } catch (error) {
    return [{ ...fact, failure: asHostError(error) }];
  }
}

/**
 * Reads the JWT that `machineAuth` names. Does not request a JWT from a cloud provider: doctor reads only files and
 * variables of this machine.
 */
async function assertionFact(
  settings: MachineAuthSettings,
  server: string,
  { env }: Environment,
): Promise<readonly MachineFact[]> {
  const { assertionFile: file, assertionEnv: variable } = settings;
  if (file === undefined && variable === undefined) return [];
  const source = file ?? `the variable ${variable ?? ""}`;
  // The platform that writes the JWT's file chooses its permissions, so doctor does not check who can read the file.
  const fact = { server, source, othersCanRead: false };
  try {
    const { jwt } = await readAssertion({ settings, serverName: server, env, audience: "" });
    const expiry = claimsOf(jwt)?.["exp"];
    return [{ ...fact, expiresAt: typeof expiry === "number" ? expiry * 1000 : undefined }];
  } catch (error) {
    return [{ ...fact, failure: asHostError(error) }];
  }
}

/** Whether other users can read the file. False on Windows, which has no permission bits. */
async function canOthersRead(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  return found !== undefined && process.platform !== "win32" && (found.mode & forOthers) !== 0;
}

function asHostError(error: unknown): HostError {
  if (error instanceof HostError) return error;
  throw error;
}
