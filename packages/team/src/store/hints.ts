/**
 * Hints between replicas that something has changed. A hint can be lost, so it only makes a reader read sooner: what
 * has changed is in the store. Hints are rare (10 commits a second for each replica), and carry ids only.
 */

import { hash } from "node:crypto";
import type { GrantKey } from "./grants.ts";
import type { Owner } from "./owner.ts";

/**
 * What has changed, and what the id of its hint is: `config` the version, `grant` `grantHint(key)`, `approval` and
 * `revocation` `ownerHint(owner)`, `question` and `api_key` the id, `message` `addressHint(address)`, `list`
 * `listHint(owner, server, list)`. The stores send these hints themselves, except `list`: a lost one only means that a
 * list is read again later.
 */
export type HintTopic = "config" | "grant" | "approval" | "question" | "api_key" | "revocation" | "message" | "list";

export interface Hints {
  /** Sends a hint to all replicas, this one too. If there are many at once, hints of a topic are joined into one without an id. */
  send(topic: HintTopic, id: string): void;
  /**
   * Calls `onHint` with the id of each hint. Without an id, hints may have been lost or joined: read everything again.
   * Listening begins before the first call without an id, so that a reader who then reads misses nothing. Returns how to stop.
   */
  listen(topic: HintTopic, onHint: (id: string | undefined) => void): () => void;
}

/** The id of hints about one sign-in. */
export function grantHint({ tenant, principal, server, pin }: GrantKey): string {
  return hintId(tenant, principal, server, pin);
}

/** The id of hints about what belongs to a user. */
export function ownerHint({ tenant, principal }: Owner): string {
  return hintId(tenant, principal);
}

/** The id of hints about a list of a server, as one user sees it. */
export function listHint({ tenant, principal }: Owner, server: string, list: string): string {
  return hintId(tenant, principal, server, list);
}

/** The id of hints about messages to an address. */
export function addressHint(address: string): string {
  return hintId(address);
}

/** A digest, because a notification has a limit of its length, and is sent to everyone who can connect. */
function hintId(...parts: readonly (string | number)[]): string {
  return hash("sha256", JSON.stringify(parts), "buffer").toString("base64url", 0, 16);
}
