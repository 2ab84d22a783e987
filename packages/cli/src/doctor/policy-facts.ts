/** Reads policy files, approvals and the lock file, as a host does. */

import { HostError } from "@fairlead/core/errors";
import { readToolApprovals } from "@fairlead/core/policy/approvals";
import { lockPath, readLock } from "@fairlead/core/policy/lock/lock-file";
import { loadPolicies } from "@fairlead/core/policy/rules/load-policies";
import type { Configuration } from "@fairlead/core/trust/configuration";
import type { PolicyFacts } from "./check-policy.ts";

export async function readPolicyFacts(configuration: Configuration): Promise<PolicyFacts> {
  const { locations, settings, trust } = configuration;
  const lock = trust.trusted ? lockPath(locations) : undefined;
  const [{ problems, files }, ...failures] = await Promise.all([
    loadPolicies(configuration),
    failureOf(readToolApprovals(locations.state)),
    lock === undefined ? undefined : failureOf(readLock(lock)),
  ]);
  // The settings check reports problems of settings files.
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
