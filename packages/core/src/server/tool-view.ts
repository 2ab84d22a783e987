/** What a tool says about its view in MCP Apps (the extension `io.modelcontextprotocol/ui`). Pure. */

import type { JsonObject } from "@fairlead/wire";
import { isObject, member } from "@fairlead/wire/json";

/** The name of the extension in the capabilities. */
export const uiExtension = "io.modelcontextprotocol/ui";
/** The MIME type of views. */
export const viewType = "text/html;profile=mcp-app";

/** The capabilities of a program that shows views. */
export const viewsDeclared: { readonly extensions: JsonObject } = {
  extensions: { [uiExtension]: { mimeTypes: [viewType] } },
};

/** The older place of the address, which most servers still send beside the new one. */
const flatMember = "ui/resourceUri";

/** Maximum length of an address of a view, in characters. */
const longestAddress = 2048;

/** Returns the addresses of the tool's view: `_meta.ui.resourceUri`, and the one in the older place if it differs. */
export function viewAddressesOf(tool: object): readonly string[] {
  const meta = member(tool, "_meta");
  if (meta === undefined) return none;
  const named = [member(member(meta, "ui"), "resourceUri"), member(meta, flatMember)];
  return [...new Set(named.filter(isViewAddress))];
}

const none: readonly string[] = [];

/** A control character in an address could hide its end from the person who reads it. */
function isViewAddress(uri: unknown): uri is string {
  return typeof uri === "string" && uri.length <= longestAddress && /^ui:\/\/[^\s\p{C}]+$/u.test(uri);
}

/** Why a tool for views only is not offered to a model. */
export const appOnlyReason = "only views of its server (MCP Apps) may call it";

/** Whether only views may call the tool: it must not be offered to a model. */
export function isAppOnly(tool: object): boolean {
  const visibility = member(member(member(tool, "_meta"), "ui"), "visibility");
  return Array.isArray(visibility) && !visibility.includes("model");
}

/** Whether views of the tool's server may call it. */
export function isForViews(tool: object): boolean {
  const visibility = member(member(member(tool, "_meta"), "ui"), "visibility");
  return !Array.isArray(visibility) || visibility.includes("app");
}

/** Returns the tool, result or resource with the addresses of views in its `_meta` replaced. */
export function withViewAddress<T extends object>(holder: T, addressOf: (uri: string) => string): T {
  const meta = member(holder, "_meta");
  if (!isObject(meta)) return holder;
  const ui = meta["ui"];
  const nested = member(ui, "resourceUri");
  const flat = meta[flatMember];
  const nestedAs = typeof nested === "string" ? addressOf(nested) : undefined;
  const flatAs = typeof flat === "string" ? addressOf(flat) : undefined;
  if (nestedAs === nested && flatAs === flat) return holder;
  const _meta: JsonObject = {
    ...meta,
    ...(isObject(ui) && nestedAs !== undefined && { ui: { ...ui, resourceUri: nestedAs } }),
    ...(flatAs !== undefined && { [flatMember]: flatAs }),
  };
  return { ...holder, _meta };
}
