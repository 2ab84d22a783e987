/** The HTTP headers of a modern request, which must say the same as its body. */

import type { IncomingHttpHeaders } from "node:http";
import { modernErrors, standardHeaders } from "../eras/modern-envelope.ts";
import { modernVersions } from "../eras/versions.ts";
import type { RpcMessage } from "../rpc/channel.ts";
import type { Era } from "../session.ts";
import { member, objectOf, stringOf } from "../shapes/json.ts";
import { messageErrors } from "./message-errors.ts";

const versionKey = "io.modelcontextprotocol/protocolVersion";
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
/** The last version with sessions. */
const lastLegacy = "2025-11-25";

/** The protocol version in the body of a modern message; undefined in the legacy era. */
export function modernVersionOf(message: RpcMessage): string | undefined {
  return stringOf(member(member(message["params"], "_meta"), versionKey));
}

/** The era of a message: by its envelope, else by its method or its session, else by its headers. */
export function eraOf(message: RpcMessage, headers: IncomingHttpHeaders): Era {
  if (modernVersionOf(message) !== undefined) return "modern";
  if (message["method"] === "initialize" || headers["mcp-session-id"] !== undefined) return "legacy";
  const version = stringOf(headers["mcp-protocol-version"]);
  return (version !== undefined && version > lastLegacy) || headers["mcp-method"] !== undefined ? "modern" : "legacy";
}

/** Why a modern request is refused. */
export interface HeaderProblem {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Compares the headers with the body; undefined if the request can be handled. */
export function headerProblem(message: RpcMessage, headers: IncomingHttpHeaders): HeaderProblem | undefined {
  const params = objectOf(message["params"]);
  const version = modernVersionOf(message);
  const sent = stringOf(headers["mcp-protocol-version"]);
  if (version === undefined || member(params["_meta"], capabilitiesKey) === undefined)
    return { code: messageErrors.invalidParams, message: `params._meta lacks ${versionKey} or ${capabilitiesKey}` };
  if (sent !== version) return mismatch("mcp-protocol-version", sent);
  if (!modernVersions.includes(version))
    return {
      code: modernErrors.unsupportedVersion,
      message: `protocol version ${version} is not supported`,
      data: { supported: modernVersions, requested: version },
    };
  const expected = standardHeaders(String(message["method"]), params);
  for (const [name, value] of Object.entries(expected))
    if (headers[name] !== value) return mismatch(name, stringOf(headers[name]));
  return undefined;
}

function mismatch(name: string, sent: string | undefined): HeaderProblem {
  const problem = sent === undefined ? "is missing" : "does not match the body";
  return { code: modernErrors.headerMismatch, message: `the header ${name} ${problem}` };
}
