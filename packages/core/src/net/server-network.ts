/** Where an MCP server is, found out once: what its name comes to mean later opens nothing. */

import { type LookupAddress, lookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { parseUrl } from "@fairlead/wire/text";

export interface ServerNetwork {
  readonly url: URL;
  /** The first who asks finds it out, for all. None: its name means nothing here, so it is nowhere near. */
  readonly addresses: () => Promise<readonly string[]>;
}

export interface ServerNetworkOptions {
  /** Those that it was reached at, where that is known. */
  readonly addresses?: readonly string[] | undefined;
  readonly resolve?: LookupFunction | undefined;
}

/** @deprecated Renamed to `ServerNetwork`. */
export type Near = ServerNetwork;

/** Undefined for what is no address. */
export function createServerNetwork(
  address: string,
  { addresses, resolve = lookup }: ServerNetworkOptions = {},
): ServerNetwork | undefined {
  if (parseUrl(address) === undefined) return undefined;
  const url = new URL(address);
  const host = hostOf(url);
  let found: Promise<readonly string[]> | undefined;
  return {
    url,
    addresses() {
      found ??= isIP(host) === 0 ? Promise.resolve(addresses ?? addressesOf(host, resolve)) : Promise.resolve([host]);
      return found;
    },
  };
}

export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

function addressesOf(host: string, resolve: LookupFunction): Promise<readonly string[]> {
  return new Promise((done) => {
    resolve(host, { all: true }, (error, found: string | LookupAddress[]) => {
      if (error !== null) return done([]);
      done(typeof found === "string" ? [found] : found.map(({ address }) => address));
    });
  });
}
