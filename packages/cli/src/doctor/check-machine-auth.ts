/**
 * Checks that the private keys and JWTs of `machineAuth` are usable and not expired, and that other users cannot read
 * the keys. Pure functions.
 */

import { toShellWord } from "@fairlead/core/text/shell-word";
import { type Observation, ok, problem, warning } from "./finding.ts";
import type { MachineFact } from "./machine-facts.ts";

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
