/**
 * The names of tools and prompts, and the servers of resource addresses, for one reader: a pure function of the catalogs
 * that the reader sees, in the order of the settings, and of its pins. A reader is the registry of a host, which has no
 * pins, a conversation, or a client of the gateway. No reader's pins change the names of another.
 */

import { createHash } from "node:crypto";
import type { JsonObject } from "@fairlead/wire";
import { qualify, toModelName, toolKey } from "../normalise/tool-name.ts";
import { createTemplateMatcher, encodeUri, longestUri, type TemplateMatcher } from "../text/uri-template.ts";
import type { Catalog } from "./catalog.ts";
import { isOfServer, ownAddress, readOwnAddress, type ServerAddress, sameAddress } from "./own-address.ts";
import { viewAddressesOf, withViewAddress } from "./tool-view.ts";

/** A tool or prompt that needs a unique name. */
export interface Claim {
  readonly server: string;
  /** The name that the server gives the tool or prompt. It is not empty. */
  readonly name: string;
  /** The name to use instead of `name`. If the model's API does not accept it, Fairlead changes it. */
  readonly wish?: string | undefined;
}

/** How the names of a server's tools and prompts are made. `own`: they stay as the server gives them. */
export type NameForm = "bare" | "qualified" | "own";

/** What the names of a list depend on besides its items. */
export interface NameRules {
  /** The names that the reader has seen. They stay as they are. */
  readonly pins?: Pins;
  /** Default: a name is bare, and only if that name is taken, it contains the server's name. */
  readonly formOf?: (server: string) => NameForm | undefined;
}

/**
 * Names the items of one list, in their order: a pinned name stays, and otherwise the first item that wants a name has
 * it. The names of the others get their server's name as a prefix. Each pair of server and name is in the list only once.
 * An item is named when the caller asks for it, so a caller can pin its name at once, or pause.
 */
export function* nameItems<T>(
  items: Iterable<T>,
  claimOf: (item: T) => Claim,
  { pins, formOf }: NameRules = {},
): Generator<readonly [as: string, item: T]> {
  const given = new Set<string>();
  const isTaken = (name: string): boolean => given.has(name) || pins?.ownerOf(name) !== undefined;
  for (const item of items) {
    const claim = claimOf(item);
    const as = pins?.nameOf(claim.server, claim.name) ?? firstFree(claim, formOf?.(claim.server), isTaken);
    given.add(as);
    yield [as, item];
  }
}

function firstFree({ server, name, wish }: Claim, form: NameForm = "bare", isTaken: (name: string) => boolean): string {
  if (form === "own") return name;
  const bare = toModelName(wish ?? name);
  if (form === "bare" && !isTaken(bare)) return bare;
  const qualified = toModelName(qualify(server, name));
  let candidate = qualified;
  for (let text = toolKey(server, name); isTaken(candidate); ) {
    text = createHash("sha256").update(text).digest("hex");
    candidate = `${qualified.slice(0, -9)}_${text.slice(0, 8)}`;
  }
  return candidate;
}

/**
 * A name under which a reader has seen a tool or prompt. For this reader, the name never means anything else, even after
 * the tool or prompt is gone. An address is its own name, unless another server uses the same one (`own-address.ts`).
 */
export interface Pin {
  readonly server: string;
  readonly name: string;
  readonly as: string;
}

/** The names of one list that one reader has seen. */
export class Pins {
  readonly #pins: Pin[] = [];
  readonly #byName = new Map<string, Pin>();
  readonly #byTool = new Map<string, string>();
  readonly #sizes: Map<string, number>;
  readonly #pinSize: number;

  /**
   * @param sizes The size of each server's pins, in bytes. Pass one map to several lists that share the servers' space.
   * @param pinSize What a pin takes besides its names, in bytes.
   */
  constructor(earlier: readonly Pin[] = [], sizes: Map<string, number> = new Map(), pinSize: number = 64) {
    this.#sizes = sizes;
    this.#pinSize = pinSize;
    for (const pin of earlier) this.pin(pin);
  }

  /** All pins, oldest first. The array grows. */
  get all(): readonly Pin[] {
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
  pin({ server, name, as }: Pin): boolean {
    const owner = this.#byName.get(as);
    if (owner !== undefined) return owner.server === server && owner.name === name;
    const size = (this.#sizes.get(server) ?? 0) + bytesOf(name) + (as === name ? 0 : bytesOf(as)) + this.#pinSize;
    if (size > mostOfServer) return false;
    this.#sizes.set(server, size);
    const pin = { server, name, as };
    this.#byName.set(as, pin);
    this.#pins.push(pin);
    const key = toolKey(server, name);
    if (!this.#byTool.has(key)) this.#byTool.set(key, as);
    return true;
  }
}

/** Maximum size of one server's pins, in bytes. It is enough for several times as many tools as a server may have. */
const mostOfServer = 4_194_304;
/** What a template takes of its server's space besides its text, in bytes. It limits a server to 1000 templates. */
const templateSize = 4096;
/** Maximum work of comparing addresses with templates, in characters that are read. Takes some 100 ms. */
const mostWork = 20_000_000;

/** The size of a name in JSON, in which pins are passed on to other processes. */
function bytesOf(name: string): number {
  return Buffer.byteLength(JSON.stringify(name));
}

/** What a client of the gateway sees by a name or an address. `skills`: those that its model has loaded. */
export type SeenList = "tools" | "prompts" | "resources" | "templates" | "links" | "skills";

/** A name or an address that a client has seen. */
export interface SeenName extends Pin {
  readonly list: SeenList;
}

/** The pins of an earlier connection of the same client, and who keeps those of this one. */
export interface ClientPinsOptions {
  readonly earlier?: readonly SeenName[];
  /** Called with new names before the client sees them. */
  readonly onSeen?: (names: readonly SeenName[]) => void;
}

/** The names and addresses that one client of the gateway has seen. They keep their servers while it is connected. */
export class ClientPins {
  readonly tools: Pins;
  readonly prompts: Pins;
  readonly resources: Pins;
  readonly templates: Pins;
  /** Addresses in results. They are apart from the listed ones: a server may send very many, but must go on listing. */
  readonly links: Pins;
  readonly skills: Pins;
  readonly #onSeen: ClientPinsOptions["onSeen"];
  /** The seen templates that can produce addresses, oldest first. */
  readonly #matchers: (TemplateMatcher & Pick<Pin, "server">)[] = [];
  /** How many of the seen templates were read into `#matchers`. */
  #readTemplates = 0;
  /** The servers of the addresses that the client has seen as their servers write them, by `sameAddress`. */
  readonly #owners = new Map<string, string>();

  constructor({ earlier = [], onSeen }: ClientPinsOptions = {}) {
    const sizes = new Map<string, number>();
    const of = (list: SeenList): readonly SeenName[] => earlier.filter((each) => each.list === list);
    this.tools = new Pins(of("tools"), sizes);
    this.prompts = new Pins(of("prompts"), sizes);
    this.resources = new Pins(of("resources"), sizes);
    this.templates = new Pins(of("templates"), sizes, templateSize);
    this.links = new Pins(of("links"));
    this.skills = new Pins(of("skills"));
    this.#onSeen = onSeen;
    for (const pins of [this.resources, this.templates, this.links]) this.#noteOwners(pins.all);
  }

  /**
   * Fixes the meaning of names that the client is about to see or has used. Returns those that it may see. Another name
   * has another meaning, or its server has used too many names.
   */
  see<T extends Pin>(list: SeenList, names: readonly T[]): readonly T[] {
    const pins = this[list];
    const before = pins.all.length;
    const usable = names.filter((name) => pins.pin(name));
    if (list !== "tools" && list !== "prompts" && list !== "skills") this.#noteOwners(pins.all.slice(before));
    if (this.#onSeen !== undefined && pins.all.length > before)
      this.#onSeen(pins.all.slice(before).map((pin) => ({ ...pin, list })));
    return usable;
  }

  #noteOwners(pins: readonly Pin[]): void {
    for (const { server, name, as } of pins)
      if (as === name && isOfServer(as)) this.#owners.set(sameAddress(as), this.#owners.get(sameAddress(as)) ?? server);
  }

  /** Returns the server of an address or a template that the client has seen. */
  ownerOf(address: string): string | undefined {
    return this.pinOf(address)?.server;
  }

  /** Returns what an address or a template means that the client has seen. */
  pinOf(address: string): Pin | undefined {
    const { resources, templates, links } = this;
    return resources.ownerOf(address) ?? templates.ownerOf(address) ?? links.ownerOf(address);
  }

  /**
   * Returns a function that gives the client's address for a server's address of a view or skill: the one that the client
   * knows, or the server's own if no other server has it, or one that names the server. The first server that asks for an
   * address has it.
   */
  createAddresses(mayList: (server: string, uri: string) => boolean = this.createListing()): AddressOf {
    const given = new Map<string, string>();
    const isFree = (server: string, uri: string): boolean => {
      // An address that names a server always leads to that server, so no server may list it as its own.
      if (readOwnAddress(uri) !== undefined) return false;
      const key = sameAddress(uri);
      if ((given.get(key) ?? this.#owners.get(key) ?? server) !== server || !mayList(server, uri)) return false;
      given.set(key, server);
      return true;
    };
    const found = new Map<string, string>();
    return (server, uri) => {
      if (!isOfServer(uri)) return uri;
      const key = toolKey(server, uri);
      const seen =
        this.resources.nameOf(server, uri) ?? this.templates.nameOf(server, uri) ?? this.links.nameOf(server, uri);
      const as = seen ?? found.get(key) ?? (isFree(server, uri) ? uri : (ownAddress({ server, uri }) ?? uri));
      found.set(key, as);
      return as;
    };
  }

  /** Returns the server of an address that the client has seen, or that a template which it has seen can produce. */
  serverOf(uri: string): string | undefined {
    const owner = this.ownerOf(uri);
    if (owner !== undefined) return owner;
    // Each server has its own work, so that templates of one server cannot hide those of another.
    return this.#producerOf(uri, createWork());
  }

  /**
   * Returns a function that says whether a server may list an address. An address that the client has seen belongs to
   * its server, and one that a template can produce belongs to the template's server.
   */
  createListing(): (server: string, uri: string) => boolean {
    // Each server has its own work. Addresses beyond it are listed next time.
    const spend = createWork();
    return (server, uri) => {
      const owner = this.ownerOf(uri);
      if (owner !== undefined) return owner === server;
      const compared = { isSkipped: false };
      const producer = this.#producerOf(uri, (_, work) => {
        compared.isSkipped ||= !spend(server, work);
        return !compared.isSkipped;
      });
      return !compared.isSkipped && (producer ?? server) === server;
    };
  }

  /**
   * Returns the server of the oldest template that can produce the address.
   *
   * @param mayCompare Called with a template's server and the work of a comparison, before it. If it returns false, the
   * template is skipped.
   */
  #producerOf(uri: string, mayCompare: (server: string, work: number) => boolean): string | undefined {
    const { all } = this.templates;
    for (const { server, as } of all.slice(this.#readTemplates)) {
      const matcher = createTemplateMatcher(as);
      if (matcher !== undefined) this.#matchers.push({ ...matcher, server });
    }
    this.#readTemplates = all.length;
    if (this.#matchers.length === 0 || uri.length > longestUri) return undefined;
    const encoded = encodeUri(uri);
    return this.#matchers.find(
      ({ server, prefix, passes, matches }) =>
        encoded.startsWith(prefix) && mayCompare(server, passes * encoded.length) && matches(encoded),
    )?.server;
  }
}

/** Returns a function that adds work for a server, and says whether the server may still do it. */
function createWork(): (server: string, work: number) => boolean {
  const spent = new Map<string, number>();
  return (server, work) => {
    const sum = (spent.get(server) ?? 0) + work;
    spent.set(server, sum);
    return sum <= mostWork;
  };
}

/** Returns the client's address for a server's address. Addresses other than those of views and skills stay as they are. */
export type AddressOf = (server: string, uri: string) => string;

/** The catalog of a server that a client sees. */
export interface SeenCatalog {
  readonly server: string;
  readonly catalog: Pick<Catalog, "tools" | "prompts" | "resources" | "resourceTemplates">;
  readonly form?: NameForm;
}

/** An item in a client's list. `name`: the name that its server uses. `definition`: what the client sees. */
export interface ClientItem<Definition = JsonObject> {
  readonly server: string;
  readonly name: string;
  readonly definition: Definition;
}

/** A client's lists. The keys are the names and URIs that the client uses. */
export interface ClientLists
  extends Readonly<Record<Exclude<SeenList, "links" | "skills">, ReadonlyMap<string, ClientItem>>> {
  readonly addressOf: AddressOf;
  /** The views of tools, by the client's addresses. A server need not list them. */
  readonly views: ReadonlyMap<string, ServerAddress>;
}

/**
 * Returns the lists of a client. `catalogs` has those of the servers that it sees, in the order of the settings. If
 * several servers list one URI, only one of them is listed: the one from which the client knows it, otherwise the first.
 * Addresses of views and skills are listed for each server, because they are unique.
 */
export function listsFor(catalogs: readonly SeenCatalog[], pins: ClientPins): ClientLists {
  const forms = new Map(catalogs.map(({ server, form }) => [server, form]));
  const formOf = (server: string): NameForm | undefined => forms.get(server);
  const mayList = pins.createListing();
  const unique = pins.createAddresses(mayList);
  // A client of one server sees the server's own addresses.
  const addressOf: AddressOf = (server, uri) => (formOf(server) === "own" ? uri : unique(server, uri));
  const views = new Map<string, ServerAddress>();
  for (const { server, catalog } of catalogs) {
    for (const tool of catalog.tools)
      for (const uri of viewAddressesOf(tool)) views.set(addressOf(server, uri), { server, uri });
    for (const { uri } of catalog.resources) addressOf(server, uri);
    for (const { uriTemplate } of catalog.resourceTemplates) addressOf(server, uriTemplate);
  }
  const tools = itemsOf(
    catalogs,
    (catalog) => catalog.tools,
    ({ name }) => name,
  );
  const prompts = itemsOf(
    catalogs,
    (catalog) => catalog.prompts,
    ({ name }) => name,
  );
  const resources = itemsOf(
    catalogs,
    (catalog) => catalog.resources,
    ({ uri }) => uri,
  );
  const templates = itemsOf(
    catalogs,
    (catalog) => catalog.resourceTemplates,
    ({ uriTemplate }) => uriTemplate,
  );
  const withViews = tools.map((tool) => ({
    ...tool,
    definition: withViewAddress(tool.definition, (uri) => addressOf(tool.server, uri)),
  }));
  const isUnique = ({ server, name }: ClientItem): boolean => isOfServer(name) && formOf(server) !== "own";
  return {
    tools: nameList(withViews, { pins: pins.tools, formOf }),
    prompts: nameList(prompts, { pins: pins.prompts, formOf }),
    resources: addressList(
      resources.filter((item) => isUnique(item) || mayList(item.server, item.name)),
      "uri",
      addressOf,
    ),
    templates: addressList(
      templates.filter((item) => isUnique(item) || (pins.ownerOf(item.name) ?? item.server) === item.server),
      "uriTemplate",
      addressOf,
    ),
    addressOf,
    views,
  };
}

function itemsOf<T>(
  catalogs: readonly SeenCatalog[],
  listOf: (catalog: SeenCatalog["catalog"]) => readonly T[],
  nameOf: (definition: T) => string,
): readonly ClientItem<T>[] {
  return catalogs.flatMap(({ server, catalog }) =>
    listOf(catalog).map((definition) => ({ server, name: nameOf(definition), definition })),
  );
}

function nameList(items: readonly ClientItem<object>[], rules: NameRules): ReadonlyMap<string, ClientItem> {
  const named = new Map<string, ClientItem>();
  for (const [as, { server, name, definition }] of nameItems(items, (item) => item, rules))
    if (!named.has(as)) named.set(as, { server, name, definition: { ...definition, name: as } });
  return named;
}

function addressList(
  items: readonly ClientItem[],
  member: "uri" | "uriTemplate",
  addressOf: AddressOf,
): ReadonlyMap<string, ClientItem> {
  const first = new Map<string, ClientItem>();
  for (const item of items) {
    const as = addressOf(item.server, item.name);
    if (!first.has(as))
      first.set(as, as === item.name ? item : { ...item, definition: { ...item.definition, [member]: as } });
  }
  return first;
}
