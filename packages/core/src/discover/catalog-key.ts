/** The key of a cached catalog: a digest of the server definition, its expanded values and the account. */

import { createHmac } from "node:crypto";
import type { Transport } from "../settings/define/definition.ts";

/** What decides which catalog a server returns. */
export interface CatalogIdentity {
  /** Digest of the definition as written. */
  readonly fingerprint: string;
  /** With expanded variables and secrets, because another token may see other tools. */
  readonly expanded: Transport;
  /** The account that is signed in. */
  readonly account?: string;
}

/** An HMAC, because an attacker could guess secrets from a plain digest. */
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
