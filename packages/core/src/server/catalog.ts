/** Reads a server's catalog: its lists of tools, prompts, resources and resource templates. */

import {
  type JsonObject,
  type ListedItem,
  type ListedResource,
  type ListedResourceTemplate,
  type ListedTool,
  type Listing,
  type ListKind,
  listAll,
  type Session,
  WireError,
} from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { type Clock, systemClock } from "../clock.ts";
import { limits } from "../limits.ts";
import { defaults } from "../settings/schema/defaults.ts";
import { declaresSkills, isSkill, type Skill, toSkill } from "../skills/skill.ts";
import { sizeWords } from "../text/size-words.ts";

export type { ListKind } from "@fairlead/wire";
/** A tool as the server lists it. */
export type CatalogTool = ListedTool;
/** A resource as the server lists it. */
export type CatalogResource = ListedResource;
/** A resource template as the server lists it. */
export type CatalogResourceTemplate = ListedResourceTemplate;

/** A prompt with checked arguments. */
export interface CatalogPrompt {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments: readonly PromptArgument[];
}

/** An argument of a prompt. */
export interface PromptArgument {
  readonly name: string;
  readonly description?: string;
  readonly required: boolean;
}

/** A note about one item of a catalog that was dropped or repaired, or about a list that was cut. */
export interface CatalogNote {
  readonly kind: ListKind;
  readonly name?: string;
  readonly reason: string;
  /** The setting to raise if the list was cut. */
  readonly setting?: string;
}

/**
 * The tools, prompts, resources and resource templates of a server, with notes about invalid items. Texts are not
 * escaped.
 */
export interface Catalog {
  readonly tools: readonly CatalogTool[];
  readonly prompts: readonly CatalogPrompt[];
  readonly resources: readonly CatalogResource[];
  readonly resourceTemplates: readonly CatalogResourceTemplate[];
  /** Absent if the server does not declare the skills extension. */
  readonly skills?: readonly Skill[];
  readonly instructions?: string;
  /** For how many milliseconds the lists are valid, if the server says so. The shortest time of all lists. */
  readonly ttlMs?: number;
  /** Notes about dropped items. A note without `name` is about an item without a name. */
  readonly dropped: readonly CatalogNote[];
  /** Notes about repaired items. */
  readonly repaired: readonly CatalogNote[];
  /** Notes about lists that were cut at a limit. */
  readonly truncated: readonly CatalogNote[];
}

/** Progress report: one list was read, or reading it failed. */
export interface ListStep {
  readonly step: "list";
  readonly method: string;
  readonly items: number;
  /** The server's error message, if the list could not be read. */
  readonly refused?: string;
  /** Milliseconds since Fairlead started reading the lists. */
  readonly milliseconds: number;
}

/** Options of `readCatalog`. */
export interface ReadOptions {
  /** The lists to read. Default: the lists that the server declares. */
  readonly only?: readonly ListKind[];
  readonly signal?: AbortSignal;
  readonly observe?: (step: ListStep) => void;
  readonly clock?: Clock;
  /** Maximum bytes of JSON that all lists may have together. One page may have at most a quarter of this size. */
  readonly maxBytes?: number;
  /** The size in bytes of lists that were read earlier and are not read again. It counts towards `maxBytes`. */
  readonly otherBytes?: number;
  /** Receives the size of each list in bytes. */
  readonly onSize?: (kind: ListKind, bytes: number) => void;
}

/** The MCP method of each list. */
export const listMethods: Readonly<Record<ListKind, string>> = {
  tools: "tools/list",
  prompts: "prompts/list",
  resources: "resources/list",
  resourceTemplates: "resources/templates/list",
  skills: "skills/list",
};

/**
 * Reads all lists in parallel, until the signal is aborted. Rejects with a `WireError` if the connection fails, or if
 * no list can be read.
 */
export async function readCatalog(session: Session, options: ReadOptions = {}): Promise<Catalog> {
  const { signal, observe, clock = systemClock } = options;
  const asked = options.only ?? listsOf(session);
  const begin = clock.now();
  const refusals: Error[] = [];
  const { maxBytes = defaults.catalogBytes, otherBytes = 0, onSize } = options;
  const limit: CatalogLimit = { maxBytes, maxPageBytes: Math.ceil(maxBytes / pageShare) };
  const room = { bytes: maxBytes - otherBytes };

  async function take<K extends ListKind>(kind: K, nameOf: (item: ListedItem<K>) => string): Promise<Taken<K>> {
    if (!asked.includes(kind)) return nothing;
    const method = listMethods[kind];
    const since = (): number => clock.now() - begin;
    try {
      const listing = await listAll(session, kind, {
        ...(signal && { signal, timeout: Number.POSITIVE_INFINITY }),
        maxPageBytes: limit.maxPageBytes,
        room,
        maxPages: kind === "skills" ? limits.skillPages : undefined,
      });
      observe?.({ step: "list", method, items: listing.items.length, milliseconds: since() });
      onSize?.(kind, listing.bytes ?? 0);
      return taken(kind, listing, nameOf, limit);
    } catch (error) {
      // After a JSON-RPC error, the other lists are still read. After any other error, the connection cannot be used.
      if (!(error instanceof WireError) || error.code !== "rpc") throw error;
      refusals.push(error);
      observe?.({ step: "list", method, items: 0, refused: error.message, milliseconds: since() });
      return { ...nothing, dropped: [{ kind, reason: `${method} failed: ${error.message}` }] };
    }
  }

  const lists = await Promise.all([
    take("tools", ({ name }) => name),
    take("prompts", ({ name }) => name),
    take("resources", ({ uri }) => uri),
    take("resourceTemplates", ({ uriTemplate }) => uriTemplate),
    take("skills", ({ uri }) => uri),
  ]);
  if (refusals[0] && refusals.length === asked.length) throw refusals[0];
  const [tools, prompts, resources, resourceTemplates, skills] = lists;
  const { named, unnamed } = toPrompts(prompts.items);
  const { usable, unusable } = toSkills(skills.items);
  const lifetimes = lists.flatMap(({ ttlMs }) => (ttlMs === undefined ? [] : [ttlMs]));
  return {
    tools: tools.items,
    prompts: named,
    resources: resources.items,
    resourceTemplates: resourceTemplates.items,
    skills: asked.includes("skills") ? usable : undefined,
    instructions: session.instructions,
    ttlMs: lifetimes.length > 0 ? Math.min(...lifetimes) : undefined,
    dropped: [...lists.flatMap(({ dropped }) => dropped), ...unusable],
    repaired: [...lists.flatMap(({ repaired }) => repaired), ...unnamed],
    truncated: lists.flatMap(({ truncated }) => truncated),
  };
}

/**
 * The lists to request: those that the server declares, or all if it declares none. Some servers never answer a request
 * for a list that they do not declare.
 */
export function listsOf({ capabilities }: Pick<Session, "capabilities">): readonly ListKind[] {
  const declares = (capability: string): boolean => isObject(capabilities[capability]);
  const kinds: readonly ListKind[] = [
    ...(declares("tools") ? (["tools"] as const) : []),
    ...(declares("prompts") ? (["prompts"] as const) : []),
    ...(declares("resources") ? (["resources", "resourceTemplates"] as const) : []),
    ...(declaresSkills(capabilities) ? (["skills"] as const) : []),
  ];
  return kinds.length > 0 ? kinds : ["tools", "prompts", "resources", "resourceTemplates"];
}

/** Whether the server declares `listChanged`. If it does, a list that is empty now may get items later. */
export function mayGrow({ capabilities }: Pick<Session, "capabilities">): boolean {
  return ["tools", "prompts", "resources"].some((capability) => {
    const declared = capabilities[capability];
    return isObject(declared) && declared["listChanged"] === true;
  });
}

interface Taken<K extends ListKind> extends Pick<Catalog, "dropped" | "repaired" | "truncated"> {
  readonly items: readonly ListedItem<K>[];
  readonly ttlMs?: number;
}

const nothing: Omit<Taken<never>, "ttlMs"> = { items: [], dropped: [], repaired: [], truncated: [] };

/** Keeps only the first item of each name, because a request cannot address the others. */
function taken<K extends ListKind>(
  kind: K,
  { items, dropped, repaired, truncated, cutBy, ttlMs }: Listing<K>,
  nameOf: (item: ListedItem<K>) => string,
  limit: CatalogLimit,
): Taken<K> {
  const names = new Set<string>();
  const seconds: CatalogNote[] = [];
  const firsts = items.filter((item) => {
    const name = nameOf(item);
    const before = names.size;
    if (names.add(name).size > before) return true;
    seconds.push({ kind, name, reason: "duplicate name" });
    return false;
  });
  return {
    items: firsts,
    dropped: [...dropped.map((note) => ({ kind, ...note })), ...seconds],
    repaired: repaired.map((note) => ({ kind, ...note })),
    truncated: truncated === undefined ? [] : [{ kind, reason: truncated, ...(cutBy && cutAt(limit, cutBy)) }],
    ttlMs,
  };
}

interface CatalogLimit {
  readonly maxBytes: number;
  readonly maxPageBytes: number;
}

/** One page may have at most this fraction (1/4) of `maxBytes`, because parsing a page needs several times its size. */
const pageShare = 4;
const catalogSetting = "fairlead.limits.catalogBytes";

function cutAt({ maxBytes, maxPageBytes }: CatalogLimit, cutBy: "page" | "memory" | "room"): Partial<CatalogNote> {
  // If memory is the limit, a higher setting does not help, so the note names no setting.
  if (cutBy === "memory") return {};
  const reason =
    cutBy === "room"
      ? `the lists of the server are larger than ${sizeWords(maxBytes)} (${catalogSetting})`
      : `a page is larger than ${sizeWords(maxPageBytes)} (a quarter of ${catalogSetting})`;
  return { reason, setting: catalogSetting };
}

/** Drops skills that cannot be used, each with the reason. */
function toSkills(listed: readonly ListedItem<"skills">[]): {
  readonly usable: readonly Skill[];
  readonly unusable: readonly CatalogNote[];
} {
  const unusable: CatalogNote[] = [];
  const usable = listed.flatMap((entry) => {
    const skill = toSkill(entry);
    if (isSkill(skill)) return [skill];
    unusable.push({ kind: "skills", name: entry.uri, reason: skill.reason });
    return [];
  });
  return { usable, unusable };
}

/** Drops prompt arguments without a name, because a request could not set them. */
function toPrompts(listed: readonly ListedItem<"prompts">[]): {
  readonly named: readonly CatalogPrompt[];
  readonly unnamed: readonly CatalogNote[];
} {
  const unnamed: CatalogNote[] = [];
  const named = listed.map((prompt) => {
    const { name, arguments: given = [] } = prompt;
    const usable = given.flatMap(toArgument);
    if (usable.length < given.length)
      unnamed.push({ kind: "prompts", name, reason: "an argument without a name was dropped" });
    return { ...prompt, arguments: usable };
  });
  return { named, unnamed };
}

/**
 * Checks an argument of a prompt. Keeps members that Fairlead does not know, because clients of the gateway may use
 * them.
 */
function toArgument({ name, description, required, ...others }: JsonObject): readonly PromptArgument[] {
  if (typeof name !== "string") return [];
  return [
    {
      ...others,
      name,
      description: typeof description === "string" ? description : undefined,
      required: required === true,
    },
  ];
}
