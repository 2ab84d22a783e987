/**
 * The addresses of an MCP server. Fairlead looks them up only once. A later change in DNS cannot lead it into another
 * network.
 */

import { type LookupAddress, lookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { parseUrl } from "@fairlead/wire/text";

/** The URL and the addresses of an MCP server. */
export interface ServerNetwork {
  readonly url: URL;
  /** The server's addresses, looked up at the first call; empty if its name cannot be resolved. */
  readonly addresses: () => Promise<readonly string[]>;
}

/**
 * Creates the network of the server with this URL; undefined if the URL is invalid.
 *
 * @param options.addresses The addresses at which the server was reached, if known.
 * @param options.resolve The DNS lookup to use instead of Node's.
 */
export function createServerNetwork(
  address: string,
  { addresses, resolve = lookup }: { readonly addresses?: readonly string[]; readonly resolve?: LookupFunction } = {},
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

/** The host of a URL, without the brackets of an IPv6 address. */
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

/** Whether the `hostname` of a `URL`, which is already normalised, is localhost or a loopback address. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:(?:[a-z0-9-]+\.)*localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
