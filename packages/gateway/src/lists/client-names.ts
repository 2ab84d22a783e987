/**
 * The names and addresses that one client has seen, each with its server. Whatever servers list later, such a name or
 * address never leads to another server, as long as the client is connected.
 */

import { type Pin, SeenNames } from "@fairlead/core/normalise/tool-name";
import { encodeUri, matchesTemplate } from "@fairlead/core/resources/templates/uri-template";

/** What clients see by a name or an address. */
export type SeenList = "tools" | "prompts" | "resources" | "templates" | "links";

/** A name or an address that a client has seen. */
export interface SeenName extends Pin {
  readonly list: SeenList;
}

/** The names of an earlier connection of the same client, and who keeps those of this one. */
export interface ClientNamesOptions {
  readonly earlier?: readonly SeenName[];
  /** Called with new names before the client sees them. */
  readonly onSeen?: (names: readonly SeenName[]) => void;
}

export class ClientNames {
  readonly tools: SeenNames;
  readonly prompts: SeenNames;
  readonly resources: SeenNames;
  readonly templates: SeenNames;
  /** Addresses in results. They are apart from the listed ones: a server may send very many, but must go on listing. */
  readonly links: SeenNames;
  readonly #onSeen: ClientNamesOptions["onSeen"];

  constructor({ earlier = [], onSeen }: ClientNamesOptions = {}) {
    const of = (list: SeenList): SeenNames => new SeenNames(earlier.filter((each) => each.list === list));
    this.tools = of("tools");
    this.prompts = of("prompts");
    this.resources = of("resources");
    this.templates = of("templates");
    this.links = of("links");
    this.#onSeen = onSeen;
  }

  /**
   * Fixes the meaning of names that the client is about to see or has used. Returns those that it may see. Another name
   * has another meaning, or its server has used too many names.
   */
  see<T extends Pin>(list: SeenList, names: readonly T[]): readonly T[] {
    const seen = this[list];
    const before = seen.pins.length;
    const usable = names.filter(({ server, name, as }) => seen.pin({ server, name, as }));
    if (this.#onSeen !== undefined && seen.pins.length > before)
      this.#onSeen(seen.pins.slice(before).map((pin) => ({ ...pin, list })));
    return usable;
  }

  /** Returns the server of an address or a template that the client has seen. */
  ownerOf(address: string): string | undefined {
    const { resources, templates, links } = this;
    return (resources.ownerOf(address) ?? templates.ownerOf(address) ?? links.ownerOf(address))?.server;
  }

  /** Returns the server of an address that the client has seen, or that a template which it has seen can produce. */
  serverOf(uri: string): string | undefined {
    return this.ownerOf(uri) ?? this.templates.pins.find(({ as }) => matchesTemplate(uri, as))?.server;
  }

  /**
   * Returns a function that says whether a server may list an address. An address that the client has seen belongs to
   * its server, and one that a template can produce belongs to the template's server.
   */
  createListing(): (server: string, uri: string) => boolean {
    const templates = this.templates.pins.map(({ as, server }) => ({
      as,
      server,
      prefix: encodeUri(as.slice(0, as.indexOf("{") >>> 0)),
    }));
    let work = mostWork;
    return (server, uri) => {
      const owner = this.ownerOf(uri);
      if (owner !== undefined) return owner === server;
      const encoded = templates.length === 0 ? uri : encodeUri(uri);
      for (const { as, server: other, prefix } of templates) {
        if (!encoded.startsWith(prefix)) continue;
        work -= uri.length * as.length;
        if (work < 0) return false;
        if (matchesTemplate(uri, as)) return other === server;
      }
      return true;
    };
  }
}

/**
 * Maximum work of comparing new addresses with templates, in characters of addresses times characters of templates.
 * Takes some 100 ms. Addresses beyond it are listed next time.
 */
const mostWork = 50_000_000;
