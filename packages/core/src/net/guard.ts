/** Finds out where a host is and refuses what must not be asked; a connection goes to an address that was checked, and to no other. */

import type { LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { checkAddresses, checkSameNetwork } from "./address-rules.ts";
import { hostOf, type ServerNetwork } from "./server-network.ts";

export interface Guard {
  /** For a host that is given by its address, which is never looked up. */
  checkLiteral(url: URL): Promise<void>;
  /**
   * For a host that a proxy looks up: what its name means here is checked. A name that is unknown here is left to the
   * proxy, and so is what it means there: the network whose door the proxy is has its own rules about that.
   */
  checkBeforeProxy(url: URL): Promise<void>;
  readonly lookup: LookupFunction;
}

/** @param near The network of the MCP server. */
export function createGuard(near: ServerNetwork | undefined, resolve: LookupFunction, signal: AbortSignal): Guard {
  const addressesOf = async (host: string, options = {}): Promise<readonly LookupAddress[]> => {
    const family = isIP(host);
    return family === 0 ? lookUp(host, options, resolve, signal) : [{ address: host, family }];
  };

  async function check(host: string, found: readonly LookupAddress[]): Promise<void> {
    const addresses = found.map(({ address }) => address);
    const nearby = (await near?.addresses()) ?? [];
    checkAddresses(host, addresses, nearby);
    // Otherwise the owner of the server's name could resolve it differently here (DNS rebinding).
    if (near !== undefined && host === near.url.hostname) checkSameNetwork(host, addresses, nearby);
  }

  return {
    async checkLiteral(url) {
      const host = hostOf(url);
      if (isIP(host) !== 0) await check(url.hostname, await addressesOf(host));
    },
    async checkBeforeProxy(url) {
      const found = await addressesOf(hostOf(url)).catch(() => {
        signal.throwIfAborted();
        return [];
      });
      if (found.length > 0) await check(url.hostname, found);
    },
    lookup(host, options, callback) {
      const found = addressesOf(host, options).then(async (addresses) => {
        await check(host, addresses);
        return addresses;
      });
      found.then(
        (addresses) => {
          if (options.all === true) return callback(null, [...addresses]);
          const [first] = addresses;
          callback(null, first?.address ?? "", first?.family);
        },
        (error: Error) => callback(error, "", 0),
      );
    },
  };
}

/** All addresses of a name; rejects when the signal is aborted, because a resolver cannot be cancelled. */
function lookUp(
  host: string,
  options: object,
  resolve: LookupFunction,
  signal: AbortSignal,
): Promise<readonly LookupAddress[]> {
  return new Promise((done, fail) => {
    signal.throwIfAborted();
    const abort = (): void => fail(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    resolve(host, { ...options, all: true }, (error, found) => {
      signal.removeEventListener("abort", abort);
      if (error !== null) return fail(error);
      const addresses = typeof found === "string" ? [{ address: found, family: isIP(found) }] : found;
      if (addresses.length > 0) return done(addresses);
      fail(Object.assign(new Error(`${host} has no address`), { code: "ENOTFOUND" }));
    });
  });
}
