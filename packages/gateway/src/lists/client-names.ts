/**
 * The names and addresses that one client has seen, each with its server. Whatever servers list later, such a name or
 * address never leads to another server, as long as the client is connected.
 */

import { type Pin, SeenNames, type SeenNamesOptions } from "@fairlead/core/normalise/tool-name";
import { createTemplateMatcher, encodeUri, longestUri, type TemplateMatcher } from "@fairlead/core/text/uri-template";

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
  /** The seen templates that can produce addresses, oldest first. */
  readonly #matchers: (TemplateMatcher & Pick<Pin, "server">)[] = [];
  /** How many of the seen templates were read into `#matchers`. */
  #readTemplates = 0;

  constructor({ earlier = [], onSeen }: ClientNamesOptions = {}) {
    const sizes = new Map<string, number>();
    const of = (list: SeenList, options: SeenNamesOptions = { sizes }): SeenNames =>
      new SeenNames(
        earlier.filter((each) => each.list === list),
        options,
      );
    this.tools = of("tools");
    this.prompts = of("prompts");
    this.resources = of("resources");
    this.templates = of("templates", { sizes, pinSize: templateSize });
    this.links = of("links", {});
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
    const owner = this.ownerOf(uri);
    if (owner !== undefined) return owner;
    // Each server has its own work, so that templates of one server cannot hide those of another.
    const spent = new Map<string, number>();
    return this.#producerOf(uri, ({ server }, work) => {
      const sum = (spent.get(server) ?? 0) + work;
      spent.set(server, sum);
      return sum <= mostWork;
    });
  }

  /**
   * Returns a function that says whether a server may list an address. An address that the client has seen belongs to
   * its server, and one that a template can produce belongs to the template's server.
   */
  createListing(): (server: string, uri: string) => boolean {
    /** The work for the addresses of each server. Addresses beyond it are listed next time. */
    const spent = new Map<string, number>();
    return (server, uri) => {
      const owner = this.ownerOf(uri);
      if (owner !== undefined) return owner === server;
      const compared = { isSkipped: false };
      const producer = this.#producerOf(uri, (_, work) => {
        const sum = (spent.get(server) ?? 0) + work;
        spent.set(server, sum);
        compared.isSkipped ||= sum > mostWork;
        return !compared.isSkipped;
      });
      return !compared.isSkipped && (producer ?? server) === server;
    };
  }

  /**
   * Returns the server of the oldest template that can produce the address.
   *
   * @param mayCompare Called with the work of a comparison, before it. If it returns false, the template is skipped.
   */
  #producerOf(uri: string, mayCompare: (matcher: Pick<Pin, "server">, work: number) => boolean): string | undefined {
    const { pins } = this.templates;
    for (const { server, as } of pins.slice(this.#readTemplates)) {
      const matcher = createTemplateMatcher(as);
      if (matcher !== undefined) this.#matchers.push({ ...matcher, server });
    }
    this.#readTemplates = pins.length;
    if (this.#matchers.length === 0 || uri.length > longestUri) return undefined;
    const encoded = encodeUri(uri);
    return this.#matchers.find(
      (matcher) =>
        encoded.startsWith(matcher.prefix) &&
        mayCompare(matcher, matcher.passes * encoded.length) &&
        matcher.matches(encoded),
    )?.server;
  }
}

/** What a template takes of its server's space besides its text, in bytes. It limits a server to 1000 templates. */
const templateSize = 4096;

/** Maximum work of comparing addresses with templates, in characters that are read. Takes some 100 ms. */
const mostWork = 20_000_000;
