/** Summarises protocol messages without their content: methods, sizes, versions, capabilities and errors. */

import { isObject, listOf, member, objectOf, parseJson } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";

/**
 * Returns a function that summarises the logged messages of one connection. It remembers requests, so that the summary
 * of a response names the method.
 */
export function createWireSummary(): (logged: string) => string {
  const methods = new Map<unknown, string>();
  return (logged) => {
    const [direction = "", ...rest] = logged.split(" ");
    const json = rest.join(" ");
    const size = `${json.length} characters`;
    // Undefined for a long message: the log cuts it, so it is no longer valid JSON.
    const message = parseJson(json);
    if (!isObject(message)) return `${direction} ${methodIn(json)} (${size})`;
    const { method, id, params, result, error } = message;
    if (typeof method === "string" && id !== undefined) methods.set(id, method);
    const name = typeof method === "string" ? method : `response to ${methods.get(id) ?? "a request"}`;
    const number = typeof id === "number" ? ` #${id}` : "";
    const inner = [
      ["params", params],
      ["result", result],
      ["error", error],
    ].flatMap(([label, value]) =>
      value === undefined ? [] : [`${String(label)} ${JSON.stringify(withoutContent(value))}`],
    );
    return `${direction} ${clip(name, 100)}${number} (${size}) ${inner.join(" ")}`.trimEnd();
  };
}

function methodIn(json: string): string {
  return /"method":"([\w/-]{1,60})"/.exec(json)?.[1] ?? "message";
}

const longestVersion = 80;

/**
 * Keeps the members of a message that describe the connection, such as `protocolVersion`. Replaces the value of every
 * other member by its size.
 */
function withoutContent(value: unknown): unknown {
  if (!isObject(value)) return sizeOf(value);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (key === "protocolVersion" && typeof inner === "string") return [key, clip(inner, longestVersion)];
      if (key === "capabilities") return [key, namesOf(inner, 2)];
      if (key === "serverInfo" || key === "clientInfo") return [key, identityOf(inner)];
      if (key === "code" && typeof inner === "number") return [key, inner];
      // A `message` next to a numeric `code` is an error message. Any other `message` is content.
      if (key === "message" && typeof inner === "string" && typeof member(value, "code") === "number")
        return [key, clip(inner, 300)];
      return [clip(key, 60), sizeOf(inner)];
    }),
  );
}

function identityOf(info: unknown): object {
  const { name, version } = objectOf(info);
  return { name: clip(String(name), longestVersion), version: clip(String(version), longestVersion) };
}

/** Returns the names of the capabilities, which say what a server supports. */
function namesOf(value: unknown, depth: number): unknown {
  if (!isObject(value) || depth === 0) return typeof value === "boolean" ? value : sizeOf(value);
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, 30)
      .map(([key, inner]) => [clip(key, 60), namesOf(inner, depth - 1)]),
  );
}

function sizeOf(value: unknown): string {
  if (Array.isArray(value)) return `(list of ${listOf(value).length})`;
  if (isObject(value)) return `(object with ${Object.keys(value).length} members)`;
  return typeof value === "string" ? `(text of ${value.length})` : `(${value === null ? "null" : typeof value})`;
}
