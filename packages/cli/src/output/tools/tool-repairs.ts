/** Formats schema changes that were made for a model's API, and quarantined tools. */

import type { HostTool } from "@fairlead/core/host";
import { fold } from "@fairlead/core/normalise/schema/write/type-text";
import type { QuarantinedTool } from "@fairlead/core/server/registries";
import { type Group, groupBy } from "@fairlead/core/text/group-by";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { clip } from "@fairlead/wire/text";
import { count, type Style } from "../output.ts";
import { fill, words } from "../wrap.ts";

type Repair = HostTool["repairs"][number];
type Repaired = Pick<HostTool, "server" | "serverToolName" | "repairs">;

const mostPlaces = 3;
const mostNames = 100;
const mostReasons = 10;
const longestPlace = 100;
const longestNote = 400;

/** Schema keywords whose removal does not matter to a caller of the tool. */
const usual: ReadonlySet<string> = new Set([
  "$schema",
  "$id",
  "$comment",
  "additionalProperties",
  "default",
  "examples",
  "example",
]);

/** Returns one sentence about the schema changes. Returns undefined if all changes are minor. */
export function repairSummary(tools: readonly Repaired[]): SafeText | undefined {
  const adapted = tools.filter(isAdapted).length;
  if (adapted === 0) return undefined;
  return safe`${adapted} of ${count(tools.length, "tool")} ${adapted === 1 ? safe`was` : safe`were`} adapted to the model's API`;
}

/** How to print schema changes. `columns` is the width at which lines wrap. */
export interface RepairOptions {
  readonly style: Style;
  readonly columns: number;
}

/**
 * Formats the schema changes in each tool of one server. The same change in several places of a schema is listed once.
 */
export function repairsText(server: string, tools: readonly Repaired[], options: RepairOptions): SafeText {
  const others = tools.filter((tool) => tool.repairs.length > 0 && !isAdapted(tool));
  const keywords = [...new Set(others.flatMap(({ repairs }) => repairs.map(({ keyword }) => keyword)))].join(", ");
  const summary = repairSummary(tools) ?? (others.length > 0 ? safe`only minor changes` : safe`no changes`);
  return joinSafe(
    [
      safe`${options.style.bold(toVisibleLine(server))}: ${summary}`,
      ...tools.filter(isAdapted).map((tool) => toolText(tool, options)),
      ...(others.length > 0 ? [safe`  minor changes in ${count(others.length, "tool")}: ${toSafeLine(keywords)}`] : []),
    ],
    safe`\n\n`,
  );
}

function isAdapted({ repairs }: Repaired): boolean {
  return repairs.some(({ action, keyword }) => !usual.has(keyword) || (action !== "removed" && action !== "moved"));
}

function toolText({ serverToolName, repairs }: Repaired, { style, columns }: RepairOptions): SafeText {
  const alike = groupBy(repairs, ({ keyword, action, note }) => JSON.stringify([keyword, action, note]));
  const layout = { columns, indent: safe`      `, hanging: safe`        ` };
  const lines = [...alike.values()].flatMap((group) => fill(words(groupText(group)), layout));
  return joinSafe([safe`  ${style.cyan(toVisibleLine(serverToolName))}`, ...lines]);
}

function groupText(group: Group<Repair>): SafeText {
  const [{ keyword, action, note }] = group;
  const paths = fold(group, mostPlaces, ({ path }) => (path === "" ? "(root)" : clip(path, longestPlace)));
  const what = safe`${toVisibleLine(clip(keyword, longestPlace))} ${toSafeLine(action)}`;
  return safe`${what} at ${toVisibleLine(paths.join(", "))}: ${toSafeLine(clip(note, longestNote))}`;
}

/**
 * Formats quarantined tools by reason, because a server above the tool limit has thousands of tools with the same
 * reason.
 */
export function quarantineText(quarantined: readonly QuarantinedTool[], style: Style, all: boolean): SafeText {
  const reasons = [...groupBy(quarantined, ({ reason }) => reason)];
  const shown = all ? reasons : reasons.slice(0, mostReasons);
  const left = reasons.length - shown.length;
  return joinSafe([
    style.bold(safe`not offered to a model: ${count(quarantined.length, "tool")}`),
    ...shown.map(([reason, tools]) => {
      const names = fold(tools, all ? mostNames : mostPlaces, (tool) =>
        clip(`${tool.server}.${tool.serverToolName}`, longestPlace),
      );
      return safe`  ${toVisibleLine(names.join(", "))}: ${toSafeLine(clip(reason, longestNote))}`;
    }),
    ...(left > 0 ? [safe`  and for ${count(left, "other reason")} (--all)`] : []),
  ]);
}
