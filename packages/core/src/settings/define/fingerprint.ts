/** The fingerprint of a server: everything that a person approves, in one digest. Approvals, verdicts and catalogs hang on it. */

import { createHash } from "node:crypto";
import type { Node } from "../../files/json/jsonc.ts";
import { canonicalOf } from "../read/nodes.ts";

export interface FingerprintFacts {
  /** The entry as written. Only its `description` may change without notice. */
  readonly entry: Node;
  /** The command with its path and variables resolved; undefined for a URL, or as long as a variable is unset. */
  readonly command: string | undefined;
  /** What comes out of the workspace's own `.env` files: whoever can change them must not change what was approved. */
  readonly workspaceValues: ReadonlyMap<string, string>;
}

export function fingerprintOf({ entry, command, workspaceValues }: FingerprintFacts): string {
  const values = [...workspaceValues].sort(([a], [b]) => (a < b ? -1 : 1));
  const approved = [canonicalOf(entry, ["description"]), JSON.stringify(command ?? null), JSON.stringify(values)];
  return createHash("sha256").update(approved.join("\n")).digest("hex");
}
