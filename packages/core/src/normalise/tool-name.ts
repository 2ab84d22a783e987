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
 * A name under which a reader (a conversation's model, a gateway's client) has seen a tool or prompt. For this reader,
 * the name never means anything else, even after the tool or prompt is gone.
 */
export interface Pin {
  readonly server: string;
  readonly name: string;
  readonly as: string;
}

/**
 * The names that one reader has seen, each with its tool or prompt. A gateway's client also keeps the servers of
 * resource addresses here: an address is its own name.
 */
export class SeenNames {
  readonly #pins: Pin[] = [];
  readonly #byName = new Map<string, Pin>();
  readonly #byTool = new Map<string, string>();
  readonly #sizes: Map<string, number>;
  readonly #pinSize: number;

  constructor(earlier: readonly Pin[] = [], { sizes = new Map(), pinSize = usualPinSize }: SeenNamesOptions = {}) {
    this.#sizes = sizes;
    this.#pinSize = pinSize;
    for (const pin of earlier) this.pin(pin);
  }

  /** All pins, oldest first. The array grows. */
  get pins(): readonly Pin[] {
    return this.#pins;
  }

  /** What the name means, whether it is still offered or not. */
  ownerOf(name: string): Pin | undefined {
    return this.#byName.get(name);
  }

  nameOf(server: string, name: string): string | undefined {
    return this.#byTool.size === 0 ? undefined : this.#byTool.get(toolKey(server, name));
  }

  /**
   * Fixes a name. Returns whether the name means this tool or prompt now. Otherwise the reader must not see it: the
   * name has another meaning, or the server has already used up its space, because it renames what it offers again and
   * again.
   */
  pin(given: Pin): boolean {
    const { server, name, as } = given;
    const owner = this.#byName.get(as);
    if (owner !== undefined) return owner.server === server && owner.name === name;
    const size = (this.#sizes.get(server) ?? 0) + bytesOf(name) + (as === name ? 0 : bytesOf(as)) + this.#pinSize;
    if (size > mostOfServer) return false;
    this.#sizes.set(server, size);
    this.#byName.set(as, given);
    this.#pins.push(given);
    const key = toolKey(server, name);
    if (!this.#byTool.has(key)) this.#byTool.set(key, as);
    return true;
  }
}

/** Options of `SeenNames`. */
export interface SeenNamesOptions {
  /** The size of each server's pins, in bytes. Pass one map to several lists that share the servers' space. */
  readonly sizes?: Map<string, number>;
  /** What a pin takes besides its names, in bytes. Default: 64. */
  readonly pinSize?: number;
}

/** Maximum size of one server's pins, in bytes. It is enough for several times as many tools as a server may have. */
const mostOfServer = 4_194_304;
const usualPinSize = 64;

/** The size of a name in JSON, in which pins are passed on to other processes. */
function bytesOf(name: string): number {
  return Buffer.byteLength(JSON.stringify(name));
}

/** Names that are already in use, and the servers whose names are always part of a tool's name. */
export interface NamingOptions {
  /** Whether the names of this server's tools and prompts always contain the server's name. */
  readonly isAlwaysQualified?: (server: string) => boolean;
  /** The names that the reader has seen. They stay as they are. */
  readonly seen?: SeenNames;
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
  const { isAlwaysQualified = () => false, seen } = options;
  const given = new Set<string>();
  const isTaken = (name: string): boolean => given.has(name) || seen?.ownerOf(name) !== undefined;
  return (claim) => {
    const name = seen?.nameOf(claim.server, claim.name) ?? firstFree(claim, isAlwaysQualified(claim.server), isTaken);
    given.add(name);
    return name;
  };
}

function firstFree(
  { server, name, wish }: Claim,
  isAlwaysQualified: boolean,
  isTaken: (name: string) => boolean,
): string {
  const bare = toModelName(wish ?? name);
  if (!isAlwaysQualified && !isTaken(bare)) return bare;
  const qualified = toModelName(qualify(server, name));
  let candidate = qualified;
  for (let text = toolKey(server, name); isTaken(candidate); ) {
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
