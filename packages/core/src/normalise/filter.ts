/** Applies the settings `includeTools` and `excludeTools` of a server. Pure. */

import type { ServerDefinition } from "../settings/define/definition.ts";
import { closest } from "../text/closest.ts";

/** The two settings that choose the tools of a server. */
export type ToolFilter = Pick<ServerDefinition, "includeTools" | "excludeTools">;

/**
 * Returns the setting that removes a tool; undefined if the tool stays. `excludeTools` takes precedence over
 * `includeTools`.
 */
export function hiddenBy(tool: string, { includeTools, excludeTools }: ToolFilter): keyof ToolFilter | undefined {
  if (excludeTools.some((entry) => names(entry, tool))) return "excludeTools";
  if (includeTools !== undefined && !includeTools.some((entry) => names(entry, tool))) return "includeTools";
  return undefined;
}

/** An item of `includeTools` or `excludeTools` that matches no tool. */
export interface UnmatchedEntry {
  readonly setting: keyof ToolFilter;
  readonly entry: string;
  /** A message for the user. The names in it are not escaped. */
  readonly message: string;
}

/**
 * Returns the items that match no tool of the server. They are probably misspelt. Returns an empty list if the server
 * has no tools.
 */
export function unmatchedEntries(tools: readonly string[], filter: ToolFilter): readonly UnmatchedEntry[] {
  if (tools.length === 0) return [];
  const toolNames = new Set(tools);
  return (["includeTools", "excludeTools"] as const).flatMap((setting) =>
    (filter[setting] ?? [])
      .filter((entry) => !toolNames.has(entry) && !tools.some((tool) => names(entry, tool)))
      .map((entry) => {
        const near = closest(entry.replace(/\(.*/s, ""), tools);
        const suggestion = near === undefined ? "" : `; did you mean "${near}"?`;
        return { setting, entry, message: `${setting} names "${entry}", but there is no such tool${suggestion}` };
      }),
  );
}

/**
 * Whether an item matches a tool. The item is a name, or a pattern with `*` and `?`. Text in parentheses at its end is
 * ignored.
 */
function names(entry: string, tool: string): boolean {
  if (entry === tool || entry.startsWith(`${tool}(`)) return true;
  return /[*?]/.test(entry) && (matches(entry, tool) || matches(entry.replace(/\(.*$/s, ""), tool));
}

/**
 * Matches a pattern without a regular expression, because a regular expression with many stars could take too long.
 * Backtracks only to the last star.
 */
function matches(pattern: string, text: string): boolean {
  let p = 0;
  let star = -1;
  let resume = 0;
  for (let t = 0; t < text.length; ) {
    if (pattern[p] === "*") {
      star = p;
      resume = t;
      p += 1;
    } else if (pattern[p] === "?" || pattern[p] === text[t]) {
      p += 1;
      t += 1;
    } else if (star >= 0) {
      p = star + 1;
      resume += 1;
      t = resume;
    } else {
      return false;
    }
  }
  return /^\**$/.test(pattern.slice(p));
}
