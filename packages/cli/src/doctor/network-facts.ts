/** Reads the certificate files that environment variables name. */

import { stat } from "node:fs/promises";
import { readText } from "@fairlead/core/files/read-text";
import { explain } from "@fairlead/core/files/system-error";
import { limits } from "@fairlead/core/limits";
import type { Environment } from "@fairlead/core/settings/read/paths";
import { certificateVariables, type NetworkFacts } from "./check-network.ts";

export async function readNetworkFacts({ env }: Environment): Promise<Omit<NetworkFacts, "isUsed">> {
  const looked = certificateVariables.map(async (name): Promise<readonly [string, string | undefined]> => {
    const path = env[name] ?? "";
    return [name, path === "" ? undefined : await flawOf(path)];
  });
  const flaws = await Promise.all(looked);
  return { env, badCertificates: new Map(flaws.flatMap(([name, flaw]) => (flaw === undefined ? [] : [[name, flaw]]))) };
}

/** Returns what is wrong with a certificate file; a folder of certificates is accepted. */
async function flawOf(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(explain);
  if (typeof found === "string") return found.startsWith("ENOENT") ? "it does not exist" : found;
  if (found.isDirectory()) return undefined;
  const read = await readText(path, limits.settingsBytes);
  if (read.kind === "absent") return "it does not exist";
  if (read.kind === "unreadable") return read.reason;
  return read.text.includes("-----BEGIN ") ? undefined : "it contains no PEM certificate";
}
