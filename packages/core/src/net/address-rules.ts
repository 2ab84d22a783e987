/**
 * Decides which IP addresses Fairlead may contact. Fairlead checks the addresses of a host after the DNS lookup, and
 * connects only to them.
 */

import type { LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { HostError } from "../errors.ts";
import { hostOf, isLoopbackHost, type ServerNetwork } from "./server-network.ts";

const ownNetwork = new Set(["private", "uniqueLocal", "carrierGradeNat"]);
/**
 * Kinds of addresses that reach a different host on each machine, such as 0.0.0.0. Fairlead contacts such an address
 * only if the MCP server has it, and only for the server's own host name.
 */
const neverShared = new Set(["linkLocal", "unspecified", "multicast", "broadcast", "unknown"]);

/** Checks that a URL uses an allowed scheme and contains no user name or password. Runs before any DNS lookup. */
export function checkUrl(url: URL, near: URL | undefined): void {
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw new HostError("denied", `Fairlead sends no requests to "${url.protocol}" addresses`);
  if (url.username !== "" || url.password !== "") throw refused(url.origin, "the URL contains a user name or password");
  if (url.protocol === "https:" || isLoopbackHost(url.hostname)) return;
  if (near?.protocol === "http:" && near.hostname === url.hostname) return;
  throw refused(url.origin, "the URL must use https");
}

function refused(where: string, why: string, next?: string): HostError {
  return new HostError("denied", `Fairlead refused the request to ${where}: ${why}`, { next });
}

/**
 * Refuses a non-public address, unless all addresses of the MCP server are of the same kind, such as `private`. One
 * address of the same kind is not enough: the server's operator could add it in DNS to reach other machines in the
 * user's network. For the same reason, an address that the server has is allowed only for the server's own host name.
 *
 * @param near The addresses of the server.
 * @param serverHost The host name of the server.
 */
export function checkAddresses(
  host: string,
  addresses: readonly string[],
  near: readonly string[],
  serverHost?: string,
): void {
  const own = host === serverHost ? near : [];
  const forbidden = addresses.find((address) => !own.includes(address) && !isReachable(address, near));
  const next = "Only an MCP server in the same network may refer Fairlead to such an address.";
  if (forbidden !== undefined) throw refused(host, `${forbidden} is not a public address`, next);
  const elsewhere = isLoopbackHost(host) ? addresses.find((address) => kindOf(address) !== "loopback") : undefined;
  if (elsewhere !== undefined) throw refused(host, `it resolves to ${elsewhere}, which is not a loopback address`);
}

/**
 * Refuses the MCP server's own host name if it resolved to a non-public address before and now resolves to a public one
 * that it did not have.
 */
export function checkSameNetwork(host: string, addresses: readonly string[], near: readonly string[]): void {
  const isNear = near.some((address) => kindOf(address) !== "public");
  const elsewhere = isNear
    ? addresses.find((address) => kindOf(address) === "public" && !near.includes(address))
    : undefined;
  if (elsewhere !== undefined) throw refused(host, `its address was ${near[0]} and is now ${elsewhere}`);
}

function isReachable(address: string, near: readonly string[]): boolean {
  const kind = kindOf(address);
  if (kind === "public") return true;
  return !neverShared.has(kind) && near.length > 0 && near.every((other) => kindOf(other) === kind);
}

/** Whether an IP address is one of the public internet. */
export function isPublicAddress(address: string): boolean {
  return kindOf(address) === "public";
}

/** The kind of an address: `public`, `loopback`, `private`, or the name of another reserved range. */
function kindOf(address: string): string {
  if (!ipaddr.isValid(address)) return "unknown";
  const parsed = embedded(ipaddr.process(address));
  const range = parsed.range();
  if (parsed.toString() === azureHost) return "linkLocal";
  if (ownNetwork.has(range)) return "private";
  if (range !== "unicast") return range;
  // Only 2000::/3 of IPv6 is assigned to hosts. The other ranges are unassigned or contain forms of IPv4 addresses.
  return parsed instanceof ipaddr.IPv6 && !parsed.match(givenOut) ? "unassigned" : "public";
}

/** Of each virtual machine of Azure, its host: like a link-local address, it is another machine everywhere. */
const azureHost = "168.63.129.16";
const givenOut = ipaddr.IPv6.parseCIDR("2000::/3");
const translated = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

/**
 * Returns the IPv4 address inside a NAT64 address, which begins with `64:ff9b::`. Returns any other address unchanged.
 */
function embedded(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (!(address instanceof ipaddr.IPv6) || !address.match(translated)) return address;
  return new ipaddr.IPv4(address.toByteArray().slice(12));
}

/** Looks up hosts and refuses forbidden addresses. Connections go only to checked addresses. */
export interface Guard {
  /** Checks a URL whose host is an IP address. No lookup happens for such a URL, so `lookup` never checks it. */
  checkLiteral(url: URL): Promise<void>;
  /**
   * Checks the addresses that this machine finds for a host, before a proxy looks up the same host. If this machine
   * finds none, nothing is checked, because perhaps only the proxy knows the name.
   */
  checkBeforeProxy(url: URL): Promise<void>;
  readonly lookup: LookupFunction;
}

/** Creates the guard. Non-public addresses are allowed only in the network of the MCP server, `near`. */
export function createGuard(near: ServerNetwork | undefined, resolve: LookupFunction, signal: AbortSignal): Guard {
  const addressesOf = async (host: string, options = {}): Promise<readonly LookupAddress[]> => {
    const family = isIP(host);
    return family === 0 ? lookUp(host, options, resolve, signal) : [{ address: host, family }];
  };

  async function check(host: string, found: readonly LookupAddress[]): Promise<void> {
    const addresses = found.map(({ address }) => address);
    const nearby = (await near?.addresses()) ?? [];
    checkAddresses(host, addresses, nearby, near?.url.hostname);
    // Without this check, the owner of the server's domain could later change its address to one in another network
    // (DNS rebinding).
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

/**
 * All addresses of a name. Rejects when the signal is aborted. The lookup itself continues, because Node cannot cancel
 * it.
 */
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
