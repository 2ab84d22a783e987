/** Which of a server's tools its entry lets through: `includeTools` and `excludeTools`. Pure. */

import type { ServerDefinition } from "../settings/definition.ts";

export type ToolFilter = Pick<ServerDefinition, "includeTools" | "excludeTools">;

/** The setting that takes a tool out, if one does; exclusion wins. Names are the server's own. */
export function hiddenBy(tool: string, { includeTools, excludeTools }: ToolFilter): keyof ToolFilter | undefined {
  if (excludeTools.some((entry) => names(entry, tool))) return "excludeTools";
  if (includeTools !== undefined && !includeTools.some((entry) => names(entry, tool))) return "includeTools";
  return undefined;
}

/** `tool`, `tool(…)` with whatever is in the brackets, or a pattern with `*` and `?`. */
function names(entry: string, tool: string): boolean {
  return entry === tool || entry.startsWith(`${tool}(`) || (/[*?]/.test(entry) && matches(entry, tool));
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
