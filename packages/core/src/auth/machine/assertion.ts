/**
 * Reads the JWT (assertion) that proves the identity of a machine. It is replaced regularly, so Fairlead reads it again
 * for every token request.
 */

import { HostError } from "../../errors.ts";
import { readText } from "../../files/read-text.ts";
import { limits } from "../../limits.ts";
import type { MachineAuthSettings } from "../../settings/define/definition.ts";
import type { Environment } from "../../settings/read/paths.ts";
import { claimsOf } from "../oauth/jwt.ts";

/** The settings that say where the JWT is, and what it is for. */
export interface AssertionOptions {
  readonly settings: MachineAuthSettings;
  readonly serverName: string;
  readonly env: Environment["env"];
  /** The audience of the JWT, if a cloud service issues it. */
  readonly audience: string;
}

/** The JWT, and where it comes from. */
export interface Assertion {
  readonly jwt: string;
  /** The source of the JWT, for messages (for example `the file /run/token`). */
  readonly from: string;
}

/**
 * Reads the JWT from a cloud service, a file or an environment variable.
 *
 * @throws HostError `auth_failed` if there is no JWT
 */
export async function readAssertion(options: AssertionOptions): Promise<Assertion> {
  const { settings, serverName, env } = options;
  const { assertionFile: file, assertionEnv: variable, assertionFrom: service } = settings;
  const fail = (reason: string, next: string): HostError =>
    new HostError("auth_failed", `assertion of "${serverName}" cannot be used: ${reason}`, { serverName, next });
  if (service !== undefined) {
    const { requestAssertion } = await import("./metadata-service.ts");
    const jwt = await requestAssertion(service, options);
    return checked({ jwt, from: `the metadata service of ${service}` }, fail);
  }
  if (file !== undefined) {
    const read = await readText(file, limits.keyBytes);
    const next = `Correct "assertionFile" under machineAuth of "${serverName}", or start the program that writes the file.`;
    if (read.kind === "absent") throw fail(`${file} does not exist`, next);
    if (read.kind === "unreadable") throw fail(`${file} cannot be read: ${read.reason}`, next);
    return checked({ jwt: read.text.trim(), from: `the file ${file}` }, fail);
  }
  const name = variable ?? "";
  const jwt = env[name]?.trim() ?? "";
  if (jwt === "") throw fail(`the variable ${name} is not set`, `Set ${name} in the environment.`);
  return checked({ jwt, from: `the variable ${name}` }, fail);
}

function checked(assertion: Assertion, fail: (reason: string, next: string) => HostError): Assertion {
  if (claimsOf(assertion.jwt) !== undefined) return assertion;
  throw fail(`${assertion.from} holds no JWT`, "Store the JWT there unchanged: three parts, separated by dots.");
}
