/**
 * The messages of a command and the background host about a server's session. They are JSON-RPC. The command's requests
 * have the methods below. All other methods are for the server: their parameters are a `PassedRequest`. The host passes
 * the server's questions and notifications on as they are.
 */

import { createHash } from "node:crypto";
import { type ErrorCode, errorCodes, HostError } from "@fairlead/core/errors";
import type { Peer } from "@fairlead/core/events";
import type { FilteredCatalog } from "@fairlead/core/server";
import { type JsonObject, type McpRequestOptions, WireError, type WireErrorCode } from "@fairlead/wire";
import { isObject, stringOf } from "@fairlead/wire/json";
import { errorMessage } from "@fairlead/wire/text";
import type { GatewayClient } from "../gateway-client.ts";

/** Connects the server if needed, and answers with an `OpenedServer`, or with `otherServer`. */
export const openMethod = "fairlead/open";
/** Sends a notification to the opened server. */
export const notifyMethod = "fairlead/notify";
/** Disconnects a server of the workspace, or connects it again. Both answer with a `ControlledServer`. */
export const stopMethod = "fairlead/stop";
export const restartMethod = "fairlead/restart";
/** Listens for HTTP clients, as a `ListenRequest` says, until the command disconnects. Answers with the `url`. */
export const listenHttpMethod = "fairlead/listen";
/** Opens a console, as `ConsoleOptions` says, until the command disconnects. Answers with its one-time `address`. */
export const openConsoleMethod = "fairlead/console";
/** Answers with another one-time `address` of the command's console. */
export const newAddressMethod = "fairlead/console/address";
/** A request of the host: asks the command's user a `HostQuestion`. Answers with the `outcome`; without one, no person was asked. */
export const askHostMethod = "fairlead/ask_host";
/** Notifications of the host: the session has ended; the server has written a line to stderr while it started. */
export const closedMethod = "fairlead/closed";
export const stderrMethod = "fairlead/stderr";

/** The answer if the host's settings define another server by this name. */
export const otherServer = { isOther: true };

/** What the host says about an open session. */
export interface OpenedServer {
  readonly peer: Peer;
  readonly capabilities: JsonObject;
  readonly catalog: FilteredCatalog["catalog"];
  readonly hidden: readonly (readonly [string, "includeTools" | "excludeTools"])[];
  readonly counts: FilteredCatalog["offer"];
}

/** How the host listens for HTTP clients on behalf of `fairlead serve --http`. */
export interface ListenRequest {
  readonly port: number;
  /** Whether clients need a token. */
  readonly hasTokens: boolean;
  readonly client: Pick<GatewayClient, "name" | "servers" | "tools">;
}

/** A server after `stopMethod` or `restartMethod`. */
export interface ControlledServer {
  readonly wasRunning: boolean;
  /** Why a restarted server could not be connected, as `writtenError` writes it. */
  readonly error?: JsonObject | undefined;
}

/** A request to the opened server. The method is that of the message. */
export interface PassedRequest {
  readonly params?: JsonObject | undefined;
  readonly options: SentOptions;
}

/** The options of a request that the host passes on to its own connection. */
export type SentOptions = Pick<
  McpRequestOptions,
  "timeout" | "total" | "maxBytes" | "asTask" | "meta" | "capabilities" | "logLevel" | "input" | "tasks"
>;

/** The digest of a server's identity. The identity itself may contain secrets. */
export function identityDigest(identity: string): string {
  return createHash("sha256").update(identity).digest("hex");
}

/** The code of the JSON-RPC error whose `data` is an error of the host. */
const hostFailure = -32050;
/** How many causes of an error are sent. */
const mostCauses = 4;

/** Returns the error for the command, as a JSON-RPC error with everything that its messages depend on. */
export function toRpcFailure(error: unknown): WireError {
  return new WireError("rpc", errorMessage(error), {
    rpc: { code: hostFailure, data: writtenError(error, mostCauses) },
  });
}

/** Returns the error that the host has sent, or `error` itself if it is another one. */
export function fromRpcFailure(error: unknown): unknown {
  if (!(error instanceof WireError) || error.evidence.rpc?.code !== hostFailure) return error;
  return readError(error.evidence.rpc.data) ?? error;
}

/** Returns the error as JSON. */
export function writtenError(error: unknown, causes: number = mostCauses): JsonObject {
  const cause = error instanceof Error && error.cause !== undefined && causes > 0 ? error.cause : undefined;
  const more = cause === undefined ? undefined : writtenError(cause, causes - 1);
  if (error instanceof HostError) {
    const { code, message, serverName, next, evidence } = error;
    return { kind: "host", code, message, serverName, next, evidence, cause: more };
  }
  if (error instanceof WireError)
    return { kind: "wire", code: error.code, message: error.message, evidence: error.evidence, cause: more };
  return { kind: "other", message: errorMessage(error) };
}

/** Reads an error that `writtenError` has written; undefined if it is none. */
export function readError(value: unknown): Error | undefined {
  if (!isObject(value)) return undefined;
  const message = stringOf(value["message"]) ?? "";
  const cause = readError(value["cause"]);
  if (value["kind"] === "wire") {
    // The background host of the same build has written the code and the evidence.
    const { code, evidence } = value as { readonly code: WireErrorCode; readonly evidence: WireError["evidence"] };
    return new WireError(code, message, evidence, cause && { cause });
  }
  if (value["kind"] !== "host") return new Error(message);
  return new HostError(codeIn(value["code"]), message, {
    serverName: stringOf(value["serverName"]),
    next: stringOf(value["next"]),
    evidence: stringOf(value["evidence"]),
    cause,
  });
}

function codeIn(value: unknown): ErrorCode {
  return errorCodes.find((code) => code === value) ?? "internal";
}
