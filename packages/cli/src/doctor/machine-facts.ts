/**
 * Reads the private keys and JWTs that `machineAuth` names, to find out whether they are usable; never reports their
 * content.
 */

import { stat } from "node:fs/promises";
import { readAssertion } from "@fairlead/core/auth/machine/assertion";
import { readClientKey } from "@fairlead/core/auth/machine/client-proof";
import { claimsOf } from "@fairlead/core/auth/oauth/jwt";
import { HostError } from "@fairlead/core/errors";
import type { MachineAuthSettings, ServerDefinition } from "@fairlead/core/settings/define/definition";
import { describeMachineAuth } from "@fairlead/core/settings/define/expand";
import type { Environment } from "@fairlead/core/settings/read/paths";

/** A private key or JWT that a server's `machineAuth` names. */
export interface MachineFact {
  readonly server: string;
  /** The source, such as `~/.keys/client.pem` or `the variable TOKEN`. */
  readonly source: string;
  /** The file of a private key. */
  readonly file?: string;
  /** Whether other users of this machine can read that file. */
  readonly othersCanRead: boolean;
  /** Algorithm of a usable private key. */
  readonly algorithm?: string;
  /** Expiry of a JWT, in milliseconds since 1970. */
  readonly expiresAt?: number;
  /** The reason why the key or JWT cannot be used. */
  readonly failure?: HostError;
}

const forOthers = 0o077;

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

/** A cloud's JWT is not requested: doctor reads only files and variables of this machine. */
async function assertionFact(
  settings: MachineAuthSettings,
  server: string,
  { env }: Environment,
): Promise<readonly MachineFact[]> {
  const { assertionFile: file, assertionEnv: variable } = settings;
  if (file === undefined && variable === undefined) return [];
  const source = file ?? `the variable ${variable ?? ""}`;
  // The platform sets the file's mode, often readable for all users in its container.
  const fact = { server, source, othersCanRead: false };
  try {
    const { jwt } = await readAssertion({ settings, serverName: server, env, audience: "" });
    const expiry = claimsOf(jwt)?.["exp"];
    return [{ ...fact, ...(typeof expiry === "number" && { expiresAt: expiry * 1000 }) }];
  } catch (error) {
    return [{ ...fact, failure: asHostError(error) }];
  }
}

/** Whether others can read the file; false on Windows, which has no such modes. */
async function canOthersRead(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  return found !== undefined && process.platform !== "win32" && (found.mode & forOthers) !== 0;
}

function asHostError(error: unknown): HostError {
  if (error instanceof HostError) return error;
  throw error;
}
