/*
 * Checks the headers with which modern HTTP requests repeat parts of their message: the era that they show, and whether
 * they match.
 */
import { codes, isObject, metaPrefix, modernVersion, RpcError } from "./rpc-error.mjs";

/** The parameter that the header `Mcp-Name` repeats, by method. */
const named = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};
const newestLegacy = "2025-11-25";

export function eraOfPost({ method, params }, headers) {
  if (params?._meta?.[`${metaPrefix}protocolVersion`] !== undefined) return "modern";
  if (method === "initialize") return "legacy";
  const version = headers["mcp-protocol-version"];
  return (version !== undefined && version > newestLegacy) || headers["mcp-method"] !== undefined ? "modern" : "legacy";
}

/**
 * Compares the headers with the message.
 * @throws RpcError if a header and the message differ
 */
export function checkHeaders({ method, params = {} }, headers, tools) {
  const version = params._meta?.[`${metaPrefix}protocolVersion`];
  // A message without a version is refused because of that, not because of its header.
  if (version === undefined) return;
  match("MCP-Protocol-Version", headers["mcp-protocol-version"], version);
  if (version !== modernVersion) return;
  match("Mcp-Method", headers["mcp-method"], method);
  const name = params[named[method]];
  if (name !== undefined) match("Mcp-Name", decode("Mcp-Name", headers["mcp-name"]), name);
  if (method !== "tools/call") return;
  const schema = tools.find(({ definition }) => definition.name === name)?.definition.inputSchema;
  for (const [key, { "x-mcp-header": header }] of Object.entries(schema?.properties ?? {})) {
    if (header === undefined) continue;
    const value = isObject(params.arguments) ? params.arguments[key] : undefined;
    const given = decode(`Mcp-Param-${header}`, headers[`mcp-param-${header}`.toLowerCase()]);
    match(`Mcp-Param-${header}`, given, value === undefined || value === null ? undefined : String(value));
  }
}

function match(header, given, expected) {
  if (given !== expected) throw mismatch(`${header} does not match the message`);
}

/** Decodes a header value. `=?base64?…?=` is encoded; any other value is used as it is. */
function decode(header, value) {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value ?? "")?.[1];
  if (encoded === undefined) return value;
  const bytes = Buffer.from(encoded, "base64");
  if (bytes.toString("base64") !== encoded) throw mismatch(`${header} is not Base64`);
  return bytes.toString("utf8");
}

const mismatch = (message) => new RpcError(codes.headerMismatch, message);
