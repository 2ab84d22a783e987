/** Which of a server's tools its entry lets through: `includeTools` and `excludeTools`. Pure. */

import type { ServerDefinition } from "../settings/define/definition.ts";
import { closest } from "../text/closest.ts";

export type ToolFilter = Pick<ServerDefinition, "includeTools" | "excludeTools">;

/** The setting that takes a tool out, if one does; exclusion wins. Names are the server's own. */
export function hiddenBy(tool: string, { includeTools, excludeTools }: ToolFilter): keyof ToolFilter | undefined {
  if (excludeTools.some((entry) => names(entry, tool))) return "excludeTools";
  if (includeTools !== undefined && !includeTools.some((entry) => names(entry, tool))) return "includeTools";
  return undefined;
}

export interface UnmatchedEntry {
  readonly setting: keyof ToolFilter;
  readonly entry: string;
  /** For the person who wrote it; names are raw. */
  readonly message: string;
}

/** What in the two lists names none of the tools that the server has: mostly a slip of the pen. One that has none yet proves nothing. */
export function unmatchedEntries(tools: readonly string[], filter: ToolFilter): readonly UnmatchedEntry[] {
  if (tools.length === 0) return [];
  const known = new Set(tools);
  return (["includeTools", "excludeTools"] as const).flatMap((setting) =>
    (filter[setting] ?? [])
      .filter((entry) => !known.has(entry) && !tools.some((tool) => names(entry, tool)))
      .map((entry) => {
        const near = closest(entry.replace(/\(.*/s, ""), tools);
        const suggestion = near === undefined ? "" : `; did you mean "${near}"?`;
        return { setting, entry, message: `${setting} names "${entry}", but there is no such tool${suggestion}` };
      }),
  );
}

/** `tool` or a pattern with `*` and `?`, each with or without `(…)`, whatever is in the brackets. */
function names(entry: string, tool: string): boolean {
  if (entry === tool || entry.startsWith(`${tool}(`)) return true;
  return /[*?]/.test(entry) && (matches(entry, tool) || matches(entry.replace(/\(.*$/s, ""), tool));
}

/** No regular expression: one of a dozen stars could take for ever on a name made for it. This goes back to the last star only. */
function matches(pattern: string, text: string): boolean {
  let p = 0;
  let star = -1;
  let resume = 0;
  for (let t = 0; t < text.length; ) {
    if (pattern[p] === "*") {
      star = p;
      resume = t;
      p += 1;
    } else if (p < pattern.length && (pattern[p] === "?" || pattern[p] === text[t])) {
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
