/** What a file of trust rules comes to, for folders below a temporary one. */

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { TemporaryFolder } from "@fairlead/test-servers";
import { decideTrust } from "../../src/trust/trust-decision.ts";
import { readTrustedFolders } from "../../src/trust/trusted-folders.ts";

export const rulesFile = "trustedFolders.json";

export async function makeFolders(folder: TemporaryFolder, ...names: readonly string[]): Promise<void> {
  for (const name of names) await mkdir(join(folder.path, name), { recursive: true });
}

/** Whether the rules trust a workspace root, which is always a real path. */
export async function isTrusted(folder: TemporaryFolder, root: string): Promise<boolean> {
  const { rules } = await readTrustedFolders(join(folder.path, rulesFile));
  const facts = {
    flag: false,
    env: {},
    folderTrustEnabled: true,
    embedderTrust: undefined,
    ide: undefined,
    hasWorkspace: true,
    rules,
    root,
  };
  return decideTrust(facts).decision.trusted;
}
