/** Reads and checks a cached catalog. An incomplete one is ignored. */

import { isObject, parseJson } from "@fairlead/wire/json";
import type { CatalogCounts, Peer } from "../events.ts";
import type { Catalog, CatalogTool } from "./catalog.ts";

/** The cached catalog of one server. Times are milliseconds since 1970. */
export interface CachedCatalog {
  /** The catalog after `includeTools` and `excludeTools`. */
  readonly catalog: Catalog;
  /** Hidden tools, with the setting that hides each. */
  readonly hidden: readonly (readonly [tool: string, setting: "includeTools" | "excludeTools"])[];
  /** Accepted definitions of tools that have changed or disappeared since. */
  readonly accepted?: readonly CatalogTool[];
  readonly offer: CatalogCounts;
  readonly peer: Peer;
  /** When the protocol was negotiated. */
  readonly reachedAt: number;
  readonly savedAt: number;
  /** Until when the lists are valid, if the server says so. */
  readonly freshUntil?: number;
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number" && Number.isFinite(value);
const isSwitch: Check = (value) => typeof value === "boolean";
const isWord =
  (...words: readonly unknown[]): Check =>
  (value) =>
    words.includes(value);
const isMaybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

/** Checks the members that Fairlead uses; other members are kept unchecked. */
function isShape(shape: Readonly<Record<string, Check>>): Check {
  const checks = Object.entries(shape);
  return (value) => isObject(value) && checks.every(([member, check]) => check(value[member]));
}

const described = { title: isMaybe(isText), description: isMaybe(isText) };
const isNotes = isListOf(isShape({ kind: isText, name: isMaybe(isText), reason: isText }));
const isTools = isListOf(
  isShape({
    name: isText,
    ...described,
    inputSchema: isObject,
    outputSchema: isMaybe(isObject),
    annotations: isMaybe(isObject),
  }),
);
const isCatalog = isShape({
  tools: isTools,
  prompts: isListOf(
    isShape({
      name: isText,
      ...described,
      arguments: isListOf(isShape({ name: isText, description: isMaybe(isText), required: isSwitch })),
    }),
  ),
  resources: isListOf(isShape({ uri: isText, name: isText, ...described, mimeType: isMaybe(isText) })),
  resourceTemplates: isListOf(isShape({ uriTemplate: isText, name: isText, ...described, mimeType: isMaybe(isText) })),
  instructions: isMaybe(isText),
  ttlMs: isMaybe(isNumber),
  dropped: isNotes,
  repaired: isNotes,
  truncated: isNotes,
});
const isPeer = isShape({
  era: isWord("legacy", "modern"),
  protocolVersion: isText,
  serverInfo: isShape({ name: isText, version: isText, title: isMaybe(isText) }),
  transport: isMaybe(isWord("stdio", "http", "sse")),
});
const isCachedCatalog = isShape({
  catalog: isCatalog,
  accepted: isMaybe(isTools),
  peer: isPeer,
  hidden: isListOf(
    (pair) =>
      Array.isArray(pair) && pair.length === 2 && isText(pair[0]) && isWord("includeTools", "excludeTools")(pair[1]),
  ),
  offer: isShape({
    tools: isNumber,
    prompts: isNumber,
    resources: isNumber,
    resourceTemplates: isNumber,
    note: isMaybe(isText),
  }),
  reachedAt: isNumber,
  savedAt: isNumber,
  freshUntil: isMaybe(isNumber),
});

/** Undefined if the text is damaged or incomplete. */
export function parseCachedCatalog(text: string): CachedCatalog | undefined {
  const value = parseJson(text);
  return isWholeCatalog(value) ? value : undefined;
}

function isWholeCatalog(value: unknown): value is CachedCatalog {
  return isCachedCatalog(value);
}
