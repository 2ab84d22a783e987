/** The first exchange with a server in either era: `initialize`, or `server/discover`. */

import { WireError } from "../errors.ts";
import type { Rpc } from "../rpc/rpc.ts";
import { timeoutError } from "../rpc/rpc-errors.ts";
import type { JsonObject, ServerInfo } from "../session.ts";
import { excerpt, objectOf, stringOf } from "../shapes/json.ts";
import type { ConnectOptions, WireTimes } from "../target.ts";
import { envelope, modernErrorCodes, modernErrors, standardHeaders } from "./modern-envelope.ts";
import { commonVersion, legacyVersions, modernVersions } from "./versions.ts";

/** What a server said about itself. */
export interface Greeting {
  readonly protocolVersion: string;
  readonly serverInfo: ServerInfo;
  readonly capabilities: JsonObject;
  readonly instructions?: string;
}

export interface Handshake {
  readonly rpc: Rpc;
  readonly options: Pick<ConnectOptions, "clientInfo" | "capabilities">;
  readonly times: WireTimes;
  readonly signal: AbortSignal | undefined;
  /** What is sent on one stream has the transport's own deadline. */
  readonly oneStream: boolean;
}

export type Discovery =
  | { readonly era: "modern"; readonly greeting: Greeting }
  /** The server knows nothing of the modern era, or wants none of it. */
  | { readonly era: "legacy"; readonly offer: string };

/** Opens a session of the legacy era; the session is ready when this resolves. */
export async function initialize(handshake: Handshake, offer: string): Promise<Greeting> {
  const { rpc, options, times, signal } = handshake;
  const result = await rpc.request(
    "initialize",
    { protocolVersion: offer, capabilities: options.capabilities ?? {}, clientInfo: { ...options.clientInfo } },
    { timeout: times.connect, signal, quiet: true },
  );
  const protocolVersion = agreedVersion(result["protocolVersion"], rpc);
  rpc.setProtocolVersion(protocolVersion);
  await sayInitialized(handshake);
  return greetingOf(result, protocolVersion, result["serverInfo"]);
}

async function sayInitialized({ rpc, times, signal, oneStream }: Handshake): Promise<void> {
  const tired = oneStream ? undefined : AbortSignal.timeout(times.connect);
  const until = tired && { signal: signal === undefined ? tired : AbortSignal.any([signal, tired]) };
  try {
    await rpc.notify("notifications/initialized", undefined, until);
  } catch (error) {
    if (tired?.aborted) throw timeoutError("initialize", times.connect);
    // Some servers do not like notifications; what matters is whether they take requests.
    if (!(error instanceof WireError) || (error.code !== "http_status" && error.code !== "rpc")) throw error;
    rpc.diagnostic(`the server refused notifications/initialized: ${error.message}`);
  }
}

/** Asks whether the server speaks the modern era; only an answer that leaves it open is thrown. */
export async function discover(handshake: Handshake, transport: "stdio" | "http"): Promise<Discovery> {
  try {
    return await askForDiscovery(handshake, transport, modernVersions[0] ?? "");
  } catch (error) {
    if (!(error instanceof WireError) || error.evidence.rpc?.code !== modernErrors.unsupportedVersion) throw error;
    const supported = objectOf(error.evidence.rpc.data)["supported"];
    const modern = commonVersion(modernVersions, supported);
    const legacy = commonVersion(legacyVersions, supported);
    if (modern !== undefined) return askForDiscovery(handshake, transport, modern);
    if (legacy !== undefined) return { era: "legacy", offer: legacy };
    throw error;
  }
}

async function askForDiscovery(
  { rpc, options, times, signal }: Handshake,
  transport: "stdio" | "http",
  version: string,
): Promise<Discovery> {
  let result: JsonObject;
  try {
    result = await rpc.request("server/discover", undefined, {
      meta: envelope(version, options),
      headers: { ...standardHeaders("server/discover"), "mcp-protocol-version": version },
      timeout: times.connect,
      signal,
      quiet: true,
    });
  } catch (error) {
    if (error instanceof WireError && provesLegacy(error, transport)) return { era: "legacy", offer: newestLegacy };
    throw error;
  }
  return discoveryOf(result);
}

const newestLegacy = legacyVersions[0] ?? "";

/** A server that answers everything, somehow, has not thereby discovered itself. */
function discoveryOf(result: JsonObject): Discovery {
  const { supportedVersions, resultType } = result;
  if (!Array.isArray(supportedVersions) && resultType !== "complete") return { era: "legacy", offer: newestLegacy };
  const version = Array.isArray(supportedVersions)
    ? commonVersion(modernVersions, supportedVersions)
    : modernVersions[0];
  if (version !== undefined) {
    const info = objectOf(result["_meta"])["io.modelcontextprotocol/serverInfo"] ?? result["serverInfo"];
    return { era: "modern", greeting: greetingOf(result, version, info) };
  }
  const offer = commonVersion(legacyVersions, supportedVersions);
  if (offer !== undefined) return { era: "legacy", offer };
  throw new WireError("bad_message", "the server speaks no protocol version that is known here", {
    step: "server/discover",
    firstBytes: excerpt(supportedVersions, 200),
  });
}

/** Whether an answer to the probe means "never heard of it", rather than a refusal of its details or an outage. */
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

/** A version that we do not know but that reads like one is a server's slip; anything else is no answer. */
function agreedVersion(version: unknown, rpc: Rpc): string {
  if (typeof version === "string" && legacyVersions.includes(version)) return version;
  if (typeof version !== "string" || !/^\d{4}-\d{2}-\d{2}$/.test(version))
    throw new WireError("bad_message", "the server's answer to initialize names no protocol version", {
      step: "initialize",
      firstBytes: excerpt(version, 100),
    });
  rpc.diagnostic(`the server chose protocol version ${version}, which is not known here`);
  return version;
}

function greetingOf(result: JsonObject, protocolVersion: string, info: unknown): Greeting {
  const { name, version, title } = objectOf(info);
  const shownTitle = stringOf(title);
  const instructions = stringOf(result["instructions"]);
  return {
    protocolVersion,
    serverInfo: {
      name: stringOf(name) ?? "unknown",
      version: stringOf(version) ?? "unknown",
      ...(shownTitle !== undefined && { title: shownTitle }),
    },
    capabilities: objectOf(result["capabilities"]),
    ...(instructions !== undefined && { instructions }),
  };
}
