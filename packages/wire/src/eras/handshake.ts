/** The first request of each protocol era: `initialize` (legacy) and `server/discover` (modern). */

import { WireError } from "../errors.ts";
import type { Rpc } from "../rpc/rpc.ts";
import { timeoutError } from "../rpc/rpc-errors.ts";
import type { JsonObject, RequestStop, ServerInfo } from "../session.ts";
import { excerpt, isObject, objectOf, stringOf } from "../shapes/json.ts";
import type { ConnectOptions, WireTimes } from "../target.ts";
import {
  commonVersion,
  envelope,
  legacyVersions,
  modernErrorCodes,
  modernErrors,
  modernVersions,
  standardHeaders,
} from "./protocol.ts";

/** What a server says about itself in its handshake response. */
export interface Greeting {
  readonly protocolVersion: string;
  readonly serverInfo: ServerInfo;
  readonly capabilities: JsonObject;
  readonly instructions?: string;
  /** `_meta` of the response. */
  readonly meta?: JsonObject;
}

/** The inputs of a handshake: the open channel, the client's name and version, times, and the caller's signal. */
export interface Handshake {
  readonly rpc: Rpc;
  readonly options: Pick<ConnectOptions, "clientInfo" | "capabilities" | "greetingMeta">;
  readonly times: WireTimes;
  readonly signal: AbortSignal | undefined;
  /** Cancels the requests of the handshake. If `stop` is set, `signal` has no effect on them. */
  readonly stop?: RequestStop;
  /** True for stdio. A notification then needs no timeout, because the stdio transport has its own. */
  readonly oneStream: boolean;
}

/** The protocol era that a server supports, according to its response to `server/discover`. */
export type Discovery =
  | { readonly era: "modern"; readonly greeting: Greeting }
  /** The server supports only the legacy protocol era. `proposedVersion` is the version that `initialize` proposes. */
  | { readonly era: "legacy"; readonly proposedVersion: string };

/** Sends `initialize` and `notifications/initialized`. */
export async function initialize(handshake: Handshake, proposedVersion: string): Promise<Greeting> {
  const { rpc, options, times, signal, stop } = handshake;
  const result = await rpc.request(
    "initialize",
    {
      protocolVersion: proposedVersion,
      capabilities: options.capabilities ?? {},
      clientInfo: { ...options.clientInfo },
      _meta: options.greetingMeta && { ...options.greetingMeta },
    },
    { timeout: times.connect, signal, stop, quiet: true },
  );
  const protocolVersion = agreedVersion(result["protocolVersion"], rpc);
  rpc.setProtocolVersion(protocolVersion);
  await notifyInitialized(handshake);
  return greetingOf(result, protocolVersion, result["serverInfo"]);
}

async function notifyInitialized({ rpc, times, signal, oneStream }: Handshake): Promise<void> {
  const timedOut = oneStream ? undefined : AbortSignal.timeout(times.connect);
  const until = timedOut && { signal: signal === undefined ? timedOut : AbortSignal.any([signal, timedOut]) };
  try {
    await rpc.notify("notifications/initialized", undefined, until);
  } catch (error) {
    if (timedOut?.aborted) throw timeoutError("initialize", times.connect);
    // Some servers refuse this notification but accept requests, so connecting continues.
    if (!(error instanceof WireError) || (error.code !== "http_status" && error.code !== "rpc")) throw error;
    rpc.diagnostic(`the server refused notifications/initialized: ${error.message}`);
  }
}

/**
 * Sends `server/discover` to find out whether the server supports the modern protocol era or only the legacy era.
 *
 * @throws WireError if the response does not show the era (for example a timeout or HTTP status 500).
 * @throws WireError if Fairlead and the server have no protocol version in common.
 */
export async function discover(handshake: Handshake, transport: "stdio" | "http"): Promise<Discovery> {
  try {
    return await requestDiscovery(handshake, transport, modernVersions[0] ?? "");
  } catch (error) {
    if (!(error instanceof WireError) || error.evidence.rpc?.code !== modernErrors.unsupportedVersion) throw error;
    const supported = objectOf(error.evidence.rpc.data)["supported"];
    const modern = commonVersion(modernVersions, supported);
    const legacy = commonVersion(legacyVersions, supported);
    if (modern !== undefined) return requestDiscovery(handshake, transport, modern);
    if (legacy !== undefined) return { era: "legacy", proposedVersion: legacy };
    throw error;
  }
}

async function requestDiscovery(
  { rpc, options, times, signal, stop }: Handshake,
  transport: "stdio" | "http",
  version: string,
): Promise<Discovery> {
  let result: JsonObject;
  try {
    result = await rpc.request("server/discover", undefined, {
      envelope: { ...options.greetingMeta, ...envelope(version, options) },
      headers: { ...standardHeaders("server/discover"), "mcp-protocol-version": version },
      timeout: times.connect,
      signal,
      stop,
      quiet: true,
    });
  } catch (error) {
    if (error instanceof WireError && provesLegacy(error, transport))
      return { era: "legacy", proposedVersion: newestLegacy };
    throw error;
  }
  return discoveryOf(result);
}

const newestLegacy = legacyVersions[0] ?? "";

/**
 * Some legacy servers answer every method with a result. So the server counts as modern only if the result has
 * `supportedVersions`, or the `resultType` "complete".
 */
function discoveryOf(result: JsonObject): Discovery {
  const { supportedVersions, resultType } = result;
  if (!Array.isArray(supportedVersions) && resultType !== "complete")
    return { era: "legacy", proposedVersion: newestLegacy };
  const version = Array.isArray(supportedVersions)
    ? commonVersion(modernVersions, supportedVersions)
    : modernVersions[0];
  if (version !== undefined) {
    const info = objectOf(result["_meta"])["io.modelcontextprotocol/serverInfo"] ?? result["serverInfo"];
    return { era: "modern", greeting: greetingOf(result, version, info) };
  }
  const proposedVersion = commonVersion(legacyVersions, supportedVersions);
  if (proposedVersion !== undefined) return { era: "legacy", proposedVersion };
  throw new WireError("bad_message", "the server supports no protocol version that Fairlead supports", {
    step: "server/discover",
    firstBytes: excerpt(supportedVersions, 200),
  });
}

/** True if the server does not know `server/discover`. A server that is down or broken (HTTP 5xx) proves nothing. */
function provesLegacy({ code, evidence }: WireError, transport: "stdio" | "http"): boolean {
  const { httpStatus, rpc } = evidence;
  if (rpc !== undefined) return !modernErrorCodes.has(rpc.code) && (httpStatus === undefined || httpStatus < 500);
  if (transport === "stdio") return code === "bad_message";
  return (
    code === "bad_message" ||
    code === "stream_lost" ||
    (code === "http_status" && httpStatus !== undefined && httpStatus < 500)
  );
}

/** Accepts any version that looks like a date, because some servers send versions that were never published. */
function agreedVersion(version: unknown, rpc: Rpc): string {
  if (typeof version === "string" && legacyVersions.includes(version)) return version;
  if (typeof version !== "string" || !/^\d{4}-\d{2}-\d{2}$/.test(version))
    throw new WireError("bad_message", "the server's response to initialize has no protocolVersion", {
      step: "initialize",
      firstBytes: excerpt(version, 100),
    });
  rpc.diagnostic(`the server chose the unknown protocol version ${version}`);
  return version;
}

function greetingOf(result: JsonObject, protocolVersion: string, info: unknown): Greeting {
  const { name, version, title } = objectOf(info);
  const { _meta } = result;
  return {
    protocolVersion,
    serverInfo: {
      name: stringOf(name) ?? "unknown",
      version: stringOf(version) ?? "unknown",
      title: stringOf(title),
    },
    capabilities: objectOf(result["capabilities"]),
    instructions: stringOf(result["instructions"]),
    meta: isObject(_meta) ? _meta : undefined,
  };
}
