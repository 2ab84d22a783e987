/** Names that a model's API accepts, one for each pair of server and tool (or prompt). Pure; nothing ever reads a name to find its server. */

import { createHash } from "node:crypto";

const longest = 63;

/** Two names may become one: `assignNames` is for many. */
export function generateValidName(name: string): string {
  const valid = name.replace(/[^a-zA-Z0-9_.-]/g, "_");
  return valid.length > longest ? `${valid.slice(0, 28)}___${valid.slice(-32)}` : valid;
}

export function qualify(server: string, name: string): string {
  return `${server}__${name}`;
}

/** The pair is the identity. */
export interface Claim {
  readonly server: string;
  /** The server's own name for it; not empty. */
  readonly name: string;
  /** What it would like to be called instead. */
  readonly wish?: string | undefined;
}

/** A name that a conversation has seen: it means this pair, whether that is still there or not. */
export interface Pin {
  readonly server: string;
  readonly name: string;
  readonly as: string;
}

export interface NamingOptions {
  /** Who never takes a bare name. */
  readonly isAlwaysQualified?: (server: string) => boolean;
  readonly pins?: readonly Pin[];
}

/** One name a claim, all different, the same for the same claims. Who claims first keeps the bare name: no pair may come twice. */
export function assignNames(claims: readonly Claim[], options: NamingOptions = {}): readonly string[] {
  const { isAlwaysQualified = () => false, pins = [] } = options;
  const taken = new Set(pins.map((pin) => pin.as));
  const pinned = new Map(pins.map((pin) => [keyOf(pin), pin.as]));
  return claims.map((claim) => {
    const name =
      (pinned.size > 0 && pinned.get(keyOf(claim))) || firstFree(claim, isAlwaysQualified(claim.server), taken);
    taken.add(name);
    return name;
  });
}

function firstFree({ server, name, wish }: Claim, isAlwaysQualified: boolean, taken: ReadonlySet<string>): string {
  const bare = toModelName(wish ?? name);
  if (!isAlwaysQualified && !taken.has(bare)) return bare;
  const qualified = toModelName(qualify(server, name));
  let candidate = qualified;
  for (let text = keyOf({ server, name }); taken.has(candidate); ) {
    text = createHash("sha256").update(text).digest("hex");
    candidate = `${qualified.slice(0, -9)}_${text.slice(0, 8)}`;
  }
  return candidate;
}

/** The API wants a letter or an underscore first. */
function toModelName(name: string): string {
  return generateValidName(/^[.\-0-9]/.test(name) ? `_${name}` : name);
}

/** JSON, because no separator is safe: servers may be called anything. */
function keyOf({ server, name }: Pick<Claim, "server" | "name">): string {
  return JSON.stringify([server, name]);
}
