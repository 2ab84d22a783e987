/** Gives tools and prompts names that models' APIs accept. Pure. */

import { createHash } from "node:crypto";

const longest = 63;

/** Makes a name valid. Two different names may become equal, so callers use `assignNames` for more than one name. */
export function generateValidName(name: string): string {
  const valid = name.replace(/[^a-zA-Z0-9_.-]/g, "_");
  return valid.length > longest ? `${valid.slice(0, 28)}___${valid.slice(-32)}` : valid;
}

/** Joins the names of a server and a tool: `server__tool`. */
export function qualify(server: string, name: string): string {
  return `${server}__${name}`;
}

/** A tool or prompt that needs a unique name. */
export interface Claim {
  readonly server: string;
  /** The name that the server gives the tool or prompt. It is not empty. */
  readonly name: string;
  /** The name to use instead of `name`. If the model's API does not accept it, Fairlead changes it. */
  readonly wish?: string | undefined;
}

/**
 * A name that a conversation has used for a tool. In this conversation, the name never means a different tool, even
 * after the tool is gone.
 */
export interface Pin {
  readonly server: string;
  readonly name: string;
  readonly as: string;
}

/** Names that are already in use, and the servers whose names are always part of a tool's name. */
export interface NamingOptions {
  /** Whether the names of this server's tools and prompts always contain the server's name. */
  readonly isAlwaysQualified?: (server: string) => boolean;
  readonly pins?: readonly Pin[];
}

/**
 * Returns a unique name for each tool or prompt in the list. The list contains each pair of `server` and `name` only
 * once. If several tools or prompts have the same name, the first keeps it. The names of the others get their server's
 * name as a prefix.
 */
export function assignNames(tools: readonly Claim[], options: NamingOptions = {}): readonly string[] {
  return tools.map(createNaming(options));
}

/** Like `assignNames`, but returns a function that assigns one name at a time. */
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

/** The names of a conversation's tools. Once a tool has a name, this name never changes. */
export interface PinnedNames {
  /** All names that were fixed, oldest first. */
  readonly pins: readonly Pin[];
  /** Fixes a name for a tool. Does nothing if the name is already fixed. */
  readonly pin: (pin: Pin) => void;
  /** Returns the fixed name of a tool. If the tool has none, fixes a name that contains the server's name. */
  readonly nameOf: (claim: Claim) => string;
}

/** Creates the names of a conversation. `earlier` is empty, unless the conversation is resumed. */
export function createPinnedNames(earlier: readonly Pin[]): PinnedNames {
  const pins: Pin[] = [];
  const taken = new Set<string>();
  const byKey = new Map<string, string>();

  function pin(given: Pin): void {
    if (taken.has(given.as)) return;
    taken.add(given.as);
    pins.push(given);
    byKey.set(toolKey(given.server, given.name), given.as);
  }

  for (const each of earlier) pin(each);
  return {
    pins,
    pin,
    nameOf(claim) {
      const { server, name } = claim;
      const pinned = byKey.get(toolKey(server, name));
      if (pinned !== undefined) return pinned;
      const as = firstFree(claim, true, taken);
      pin({ server, name, as });
      return as;
    },
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

/**
 * The tool's name without the server's name, in a form that the API accepts. The API requires a letter or an underscore
 * at the start.
 */
export function toModelName(name: string): string {
  return generateValidName(/^[.\-0-9]/.test(name) ? `_${name}` : name);
}

/**
 * The key of a tool or prompt in maps. It is JSON of the two names, because a name may contain any character that could
 * serve as a separator.
 */
export function toolKey(server: string, name: string): string {
  return JSON.stringify([server, name]);
}
