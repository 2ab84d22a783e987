// The errors of the conformance server.

/** The supported protocol versions: one of the modern era and several of the legacy era. */
export const modernVersion = "2026-07-28";
export const legacyVersions = ["2025-11-25", "2025-06-18", "2025-03-26"];
export const metaPrefix = "io.modelcontextprotocol/";

export const codes = {
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** The error code for a resource that does not exist, in the legacy era. */
  resourceNotFound: -32002,
};

/** An error that is sent as a JSON-RPC error. */
export class RpcError extends Error {
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** An error that is sent as a result with `isError`. */
export class ToolFailure extends Error {}

/**
 * Converts an error.
 * @returns the `error` member of a response
 */
export function errorBody(error) {
  if (!(error instanceof RpcError)) return { code: codes.internal, message: String(error?.message ?? error) };
  const { code, message, data } = error;
  return { code, message, ...(data !== undefined && { data }) };
}

export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
