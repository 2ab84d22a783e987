/** Which addresses may be asked: the public ones, and the kind of network that the MCP server itself is in. Pure. */

import ipaddr from "ipaddr.js";
import { HostError } from "../errors.ts";
import { isLoopbackHost } from "./loopback-host.ts";

/** What belongs to somebody's own network, under different numbers. */
const ownNetwork = new Set(["private", "uniqueLocal", "carrierGradeNat"]);
/** Every machine has its own of these: that the server is at one says nothing about another. */
const neverShared = new Set(["linkLocal", "unspecified", "multicast", "broadcast", "unknown"]);

/** Refuses an address by how it is written, before any name is looked up. */
export function checkUrl(url: URL, near: URL | undefined): void {
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw new HostError("denied", `an address that begins with "${url.protocol}" is not asked`);
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

/** Refuses the MCP server's own name when it leads out of the network in which the server was found. */
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

/** `public`, `loopback`, `private`, or the name of a range that is for something else. */
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

/** Where there is only IPv6, names of IPv4 hosts are answered with addresses that hold theirs. */
function embedded(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (!(address instanceof ipaddr.IPv6) || !address.match(translated)) return address;
  return new ipaddr.IPv4(address.toByteArray().slice(12));
}
