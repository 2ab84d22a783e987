/** Recognises server entries that lead back to Fairlead, in the form of any program that `fairlead connect` supports. */

import { isObject, listOf, objectOf } from "@fairlead/wire/json";

/** How a client reaches Fairlead: it starts a command, or sends requests to a URL. */
export type ClientEntry =
  | {
      readonly kind: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    }
  | { readonly kind: "http"; readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** The name of the entry that `connect` writes. */
export const ownEntryName = "fairlead";

/** Reads an entry in the form of any client. Undefined if the entry has neither a command nor a URL. */
export function fromForeignEntry(value: unknown): ClientEntry | undefined {
  if (!isObject(value)) return undefined;
  const written = value["command"] ?? value["cmd"];
  const words: readonly unknown[] = Array.isArray(written) ? written : [written, ...listOf(value["args"])];
  const [command, ...args] = words.filter((word) => typeof word === "string");
  if (written !== undefined && command !== undefined)
    return { kind: "stdio", command, args, env: textsIn(value["env"] ?? value["environment"] ?? value["envs"]) };
  const url = value["url"] ?? value["serverUrl"] ?? value["httpUrl"] ?? value["uri"];
  if (typeof url !== "string") return undefined;
  return { kind: "http", url, headers: textsIn(value["headers"] ?? value["http_headers"]) };
}

function textsIn(value: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(objectOf(value)).flatMap(([name, text]) => (typeof text === "string" ? [[name, text]] : [])),
  );
}

/**
 * Whether an entry starts `fairlead serve`, like the entries that `connect` writes. Fairlead must not use such an entry
 * as a server, because Fairlead would start itself.
 */
export function isOwnEntry(value: unknown): boolean {
  const entry = fromForeignEntry(value);
  if (entry?.kind !== "stdio") return false;
  const words = [entry.command, ...entry.args];
  const at = words.findIndex((word) => /(?:^|[/\\])fairlead(?:\.cjs|\.cmd)?$/.test(word));
  return at !== -1 && words.slice(at + 1).includes("serve");
}

/**
 * Whether an entry with this name leads to Fairlead itself: it starts `fairlead serve`, or its URL is Fairlead's
 * gateway.
 */
export function isOwnServer(name: string, value: unknown): boolean {
  if (isOwnEntry(value)) return true;
  const entry = name === ownEntryName ? fromForeignEntry(value) : undefined;
  return entry?.kind === "http" && /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d+\/mcp(?:\/|$)/.test(entry.url);
}
