/** A tool whose definition is not the one that was shown before: shows the difference, and asks whether it may run all the same. */

import type { CatalogTool } from "@fairlead/core/discover/catalog";
import { definitionOf } from "@fairlead/core/discover/tool-changes";
import type { Host } from "@fairlead/core/host";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { canAsk, confirm } from "./prompt.ts";
import { nameOf, type Target } from "./target.ts";
import type { Context } from "./verb.ts";

export interface WantedCall {
  readonly target: Target;
  /** Its definition when it was last shown, if that is known. */
  readonly shown: CatalogTool | undefined;
  /** `--yes`. */
  readonly isYes: boolean;
}

/** Whatever is answered, the difference is shown. Without a terminal nobody is asked, and the call is refused. */
export async function acceptsChange(
  { target, shown, isYes }: WantedCall,
  host: Host,
  { io, out }: Pick<Context, "io" | "out">,
): Promise<boolean> {
  const now = host.catalog(target.server)?.tools.find(({ name }) => name === target.tool);
  if (shown === undefined || now === undefined || definitionOf(shown) === definitionOf(now)) return false;
  out.say(safe`${toSafeLine(nameOf(target))} has changed since it was last shown:\n${differenceText(shown, now)}`);
  return isYes || (canAsk(io) && confirm(io, safe`Call it as it is now?`));
}

const members = ["title", "description", "inputSchema", "outputSchema", "annotations"] as const;

/** Whole: what is left out of a difference cannot be judged. */
function differenceText(before: CatalogTool, after: CatalogTool): SafeText {
  const lines = members.flatMap((member) => {
    const [old, now] = [wordsOf(before[member]), wordsOf(after[member])];
    if (old === now) return [];
    return [
      safe`  ${toSafeLine(member)}`,
      ...(old === undefined ? [] : [safe`    - ${toVisibleLine(old)}`]),
      ...(now === undefined ? [] : [safe`    + ${toVisibleLine(now)}`]),
    ];
  });
  return joinSafe(lines);
}

function wordsOf(value: unknown): string | undefined {
  return value === undefined || typeof value === "string" ? value : JSON.stringify(value);
}
