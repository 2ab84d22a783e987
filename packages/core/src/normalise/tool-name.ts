/** Assigns names that models' APIs accept to pairs of server and tool or prompt. Names are never parsed. Pure. */

import { createHash } from "node:crypto";

const longest = 63;

/** Makes a valid name. Two names may become the same: use `assignNames` for many. */
export function generateValidName(name: string): string {
  const valid = name.replace(/[^a-zA-Z0-9_.-]/g, "_");
  return valid.length > longest ? `${valid.slice(0, 28)}___${valid.slice(-32)}` : valid;
}

/** Joins the names of server and tool. */
export function qualify(server: string, name: string): string {
  return `${server}__${name}`;
}

/** A tool or prompt that needs a name, identified by server and name. */
export interface Claim {
  readonly server: string;
  /** The server's own name; not empty. */
  readonly name: string;
  /** The name that the item's author asks for. */
  readonly wish?: string | undefined;
}

/** A name that a conversation has used: it means this pair, even after the tool is gone. */
export interface Pin {
  readonly server: string;
  readonly name: string;
  readonly as: string;
}

export interface NamingOptions {
  /** Whether items of this server never get a bare name. */
  readonly isAlwaysQualified?: (server: string) => boolean;
  readonly pins?: readonly Pin[];
}

/**
 * Assigns one unique name to each claim; equal claims give equal names. The first claim keeps the bare name. No pair
 * may occur twice.
 */
export function assignNames(claims: readonly Claim[], options: NamingOptions = {}): readonly string[] {
  return claims.map(createNaming(options));
}

/** The same one by one: gives each claim its name. */
export function createNaming(options: NamingOptions = {}): (claim: Claim) => string {
  const { isAlwaysQualified = () => false, pins = [] } = options;
  const taken = new Set(pins.map((pin) => pin.as));
  const pinned = new Map(pins.map((pin) => [toolKey(pin.server, pin.name), pin.as]));
  return (claim) => {
    const name =
      (pinned.size > 0 && pinned.get(toolKey(claim.server, claim.name))) ||
      firstFree(claim, isAlwaysQualified(claim.server), taken);
    taken.add(name);
    return name;
  };
}

function firstFree({ server, name, wish }: Claim, isAlwaysQualified: boolean, taken: ReadonlySet<string>): string {
  const bare = toModelName(wish ?? name);
  if (!isAlwaysQualified && !taken.has(bare)) return bare;
  const qualified = toModelName(qualify(server, name));
  let candidate = qualified;
  for (let text = toolKey(server, name); taken.has(candidate); ) {
    text = createHash("sha256").update(text).digest("hex");
    candidate = `${qualified.slice(0, -9)}_${text.slice(0, 8)}`;
  }
  return candidate;
}

/** The bare name: valid, without a server. The API requires a letter or an underscore first. */
export function toModelName(name: string): string {
  return generateValidName(/^[.\-0-9]/.test(name) ? `_${name}` : name);
}

/** The key of a tool in maps. JSON, because names may contain any separator. */
export function toolKey(server: string, name: string): string {
  return JSON.stringify([server, name]);
}
