/** Decides which IP addresses may be reached, and checks them in the lookup that the connection itself uses. */

import type { LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { HostError } from "../errors.ts";
import { isLoopbackHost } from "./loopback-host.ts";
import { hostOf, type ServerNetwork } from "./server-network.ts";

/** Address ranges of private networks. */
const ownNetwork = new Set(["private", "uniqueLocal", "carrierGradeNat"]);
/** Link-local addresses, which are never allowed: they differ from machine to machine. */
const neverShared = new Set(["linkLocal", "unspecified", "multicast", "broadcast", "unknown"]);

/** Refuses a URL by its scheme or user info, before any name is looked up. */
export function checkUrl(url: URL, near: URL | undefined): void {
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw new HostError("denied", `Fairlead sends no requests to "${url.protocol}" addresses`);
  if (url.username !== "" || url.password !== "")
    throw new HostError("denied", `${url.origin} is not asked: its address has a user name or a password in it`);
  if (url.protocol === "https:" || isLoopbackHost(url.hostname)) return;
  if (near?.protocol === "http:" && near.hostname === url.hostname) return;
  throw new HostError("denied", `${url.origin} is not asked: it would have to be https`);
}

/**
 * Refuses a host if any of its addresses is neither public nor of the kind that the MCP server has. A server is of a kind
 * when all its addresses are: otherwise one more line in its owner's name server would open everybody's own network.
 */
export function checkAddresses(host: string, addresses: readonly string[], near: readonly string[]): void {
  const refused = addresses.find((address) => !isReachable(address, near));
  if (refused !== undefined)
    throw new HostError("denied", `${host} is not asked: ${refused} is not a public address`, {
      next: "Only an MCP server that is in the same network may send us to such an address.",
    });
  const elsewhere = isLoopbackHost(host) ? addresses.find((address) => kindOf(address) !== "loopback") : undefined;
  if (elsewhere !== undefined)
    throw new HostError("denied", `${host} is not asked: ${elsewhere} is not an address of this machine`);
}

/** Refuses the MCP server's own name if it now resolves to an address outside the server's network. */
export function checkSameNetwork(host: string, addresses: readonly string[], near: readonly string[]): void {
  const isNear = near.some((address) => kindOf(address) !== "public");
  const elsewhere = isNear ? addresses.find((address) => kindOf(address) === "public") : undefined;
  if (elsewhere !== undefined)
    throw new HostError("denied", `${host} is not asked: it was at ${near[0]}, and is at ${elsewhere} now`);
}

function isReachable(address: string, near: readonly string[]): boolean {
  const kind = kindOf(address);
  if (kind === "public" || near.includes(address)) return true;
  return !neverShared.has(kind) && near.length > 0 && near.every((other) => kindOf(other) === kind);
}

/** `public`, `loopback`, `private`, or the name of another reserved range. */
function kindOf(address: string): string {
  if (!ipaddr.isValid(address)) return "unknown";
  const parsed = embedded(ipaddr.process(address));
  const range = parsed.range();
  if (ownNetwork.has(range)) return "private";
  if (range !== "unicast") return range;
  // Of IPv6, only one eighth has been given out; the rest holds older ways to write IPv4 addresses, and nobody.
  return parsed instanceof ipaddr.IPv6 && !parsed.match(givenOut) ? "unassigned" : "public";
}

const givenOut = ipaddr.IPv6.parseCIDR("2000::/3");
const translated = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

/** In IPv6-only networks (NAT64), the IPv6 address of an IPv4 host contains its IPv4 address. */
function embedded(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (!(address instanceof ipaddr.IPv6) || !address.match(translated)) return address;
  return new ipaddr.IPv4(address.toByteArray().slice(12));
}

/** Finds out where a host is and refuses what must not be asked; a connection goes to an address that was checked, and to no other. */
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
