/** What a server offers, read once from a conversation with it, and what of it could not be used. Texts are the server's own: raw. */

import type {
  JsonObject,
  ListedItem,
  ListedResource,
  ListedResourceTemplate,
  ListedTool,
  Listing,
  ListKind,
  Session,
} from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { type Clock, systemClock } from "../clock.ts";

export type { ListKind } from "@fairlead/wire";
export type CatalogTool = ListedTool;
export type CatalogResource = ListedResource;
export type CatalogResourceTemplate = ListedResourceTemplate;

export interface CatalogPrompt {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments: readonly PromptArgument[];
}

export interface PromptArgument {
  readonly name: string;
  readonly description?: string;
  readonly required: boolean;
}

/** Something that a server said and that is not taken as it was said. */
export interface CatalogNote {
  readonly kind: ListKind;
  readonly name?: string;
  readonly reason: string;
}

/** The tools, prompts, resources and resource templates that a server lists, with notes about what could not be used. Texts are raw. */
export interface Catalog {
  readonly tools: readonly CatalogTool[];
  readonly prompts: readonly CatalogPrompt[];
  readonly resources: readonly CatalogResource[];
  readonly resourceTemplates: readonly CatalogResourceTemplate[];
  readonly instructions?: string;
  /** How long the server vouches for its lists, in milliseconds, if it says so: the shortest of them. */
  readonly ttlMs?: number;
  /** Left out; without a name, it had none. */
  readonly dropped: readonly CatalogNote[];
  /** Taken, with something in it made good. */
  readonly repaired: readonly CatalogNote[];
  /** Lists that may go on where we stopped reading. */
  readonly truncated: readonly CatalogNote[];
}

/** One list has been read to its end, or refused. */
export interface ListStep {
  readonly step: "list";
  readonly method: string;
  readonly items: number;
  /** What the server says instead of giving it. */
  readonly refused?: string;
  /** Since all lists were asked for, at once. */
  readonly milliseconds: number;
}

export interface ReadOptions {
  /** Of all lists, by default those that the server declares. */
  readonly only?: readonly ListKind[];
  readonly signal?: AbortSignal;
  readonly observe?: (step: ListStep) => void;
  readonly clock?: Clock;
}

export const listMethods: Readonly<Record<ListKind, string>> = {
  tools: "tools/list",
  prompts: "prompts/list",
  resources: "resources/list",
  resourceTemplates: "resources/templates/list",
};

/** Asks for all lists at once; the signal bounds the time for them all together. */
export async function readCatalog(session: Session, options: ReadOptions = {}): Promise<Catalog> {
  const { listAll, WireError } = await import("@fairlead/wire");
  const { signal, observe, clock = systemClock } = options;
  const asked = options.only ?? listsOf(session);
  const begin = clock.now();
  const refusals: Error[] = [];

  async function take<K extends ListKind>(kind: K, nameOf: (item: ListedItem<K>) => string): Promise<Taken<K>> {
    if (!asked.includes(kind)) return nothing;
    const method = listMethods[kind];
    const since = (): number => clock.now() - begin;
    try {
      const listing = await listAll(session, kind, signal && { signal, timeout: Number.POSITIVE_INFINITY });
      observe?.({ step: "list", method, items: listing.items.length, milliseconds: since() });
      return taken(kind, listing, nameOf);
    } catch (error) {
      // Only that the server answers with an error is the list's own affair; anything else ends the conversation.
      if (!(error instanceof WireError) || error.code !== "rpc") throw error;
      refusals.push(error);
      observe?.({ step: "list", method, items: 0, refused: error.message, milliseconds: since() });
      return { ...nothing, dropped: [{ kind, reason: `${method} was refused: ${error.message}` }] };
    }
  }

  const lists = await Promise.all([
    take("tools", ({ name }) => name),
    take("prompts", ({ name }) => name),
    take("resources", ({ uri }) => uri),
    take("resourceTemplates", ({ uriTemplate }) => uriTemplate),
  ]);
  if (refusals[0] && refusals.length === asked.length) throw refusals[0];
  const [tools, prompts, resources, resourceTemplates] = lists;
  const { named, unnamed } = toPrompts(prompts.items);
  const lifetimes = lists.flatMap(({ ttlMs }) => (ttlMs === undefined ? [] : [ttlMs]));
  return {
    tools: tools.items,
    prompts: named,
    resources: resources.items,
    resourceTemplates: resourceTemplates.items,
    ...(session.instructions !== undefined && { instructions: session.instructions }),
    ...(lifetimes.length > 0 && { ttlMs: Math.min(...lifetimes) }),
    dropped: lists.flatMap(({ dropped }) => dropped),
    repaired: [...lists.flatMap(({ repaired }) => repaired), ...unnamed],
    truncated: lists.flatMap(({ truncated }) => truncated),
  };
}

/** What a server does not declare is not asked for: some never answer. One that declares nothing at all may just have forgotten to. */
export function listsOf({ capabilities }: Pick<Session, "capabilities">): readonly ListKind[] {
  const declares = (capability: string): boolean => isObject(capabilities[capability]);
  const kinds: readonly ListKind[] = [
    ...(declares("tools") ? (["tools"] as const) : []),
    ...(declares("prompts") ? (["prompts"] as const) : []),
    ...(declares("resources") ? (["resources", "resourceTemplates"] as const) : []),
  ];
  return kinds.length > 0 ? kinds : ["tools", "prompts", "resources", "resourceTemplates"];
}

/** Whether lists may grow later: then an empty one says little. */
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

/** The first of a name keeps it: a second one could never be asked for. */
function taken<K extends ListKind>(
  kind: K,
  { items, dropped, repaired, truncated, ttlMs }: Listing<K>,
  nameOf: (item: ListedItem<K>) => string,
): Taken<K> {
  const firsts = new Map<string, ListedItem<K>>();
  const seconds: CatalogNote[] = [];
  for (const item of items) {
    const name = nameOf(item);
    if (firsts.has(name)) seconds.push({ kind, name, reason: "there is another one of the same name" });
    else firsts.set(name, item);
  }
  return {
    items: [...firsts.values()],
    dropped: [...dropped.map((note) => ({ kind, ...note })), ...seconds],
    repaired: repaired.map((note) => ({ kind, ...note })),
    truncated: truncated === undefined ? [] : [{ kind, reason: truncated }],
    ...(ttlMs !== undefined && { ttlMs }),
  };
}

/** The arguments of prompts are listed as they came; one without a name cannot be given. */
function toPrompts(listed: readonly ListedItem<"prompts">[]): {
  readonly named: readonly CatalogPrompt[];
  readonly unnamed: readonly CatalogNote[];
} {
  const unnamed: CatalogNote[] = [];
  const named = listed.map(({ name, title, description, arguments: given = [] }) => {
    const usable = given.flatMap(toArgument);
    if (usable.length < given.length)
      unnamed.push({ kind: "prompts", name, reason: "an argument without a name was left out" });
    return {
      name,
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      arguments: usable,
    };
  });
  return { named, unnamed };
}

function toArgument({ name, description, required }: JsonObject): readonly PromptArgument[] {
  if (typeof name !== "string") return [];
  return [{ name, ...(typeof description === "string" && { description }), required: required === true }];
}
