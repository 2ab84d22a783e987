/** Under which name a server's catalog is kept: its entry, what the entry's variables and secrets stand for, and the account. */

import { createHmac } from "node:crypto";
import type { Transport } from "../settings/define/definition.ts";

export interface CatalogIdentity {
  /** Of the entry as written. */
  readonly fingerprint: string;
  /** With variables and secrets filled in: another token may see other tools. */
  readonly expanded: Transport;
  /** Who is signed in, if anyone. */
  readonly account?: string;
}

/** Keyed, because a plain digest would let who finds it try out passwords. */
export function catalogKey({ fingerprint, expanded, account = "" }: CatalogIdentity, key: Buffer): string {
  const content = JSON.stringify([fingerprint, plain(expanded), account]);
  return createHmac("sha256", key).update(content).digest("hex").slice(0, 40);
}

function plain(transport: Transport): unknown {
  if (transport.kind !== "stdio") return [transport.kind, transport.url, sorted(transport.headers)];
  const { kind, command, args, env, cwd = null } = transport;
  return [kind, command, args, sorted(env), cwd];
}

function sorted(values: ReadonlyMap<string, string>): readonly (readonly [string, string])[] {
  return [...values].sort(([a], [b]) => (a < b ? -1 : 1));
}
