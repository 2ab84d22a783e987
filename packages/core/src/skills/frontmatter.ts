/** Reads the YAML frontmatter of a `SKILL.md`, and compares it with the entry of the skill. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { isSameJson } from "../text/same-json.ts";
import { skillLimits } from "./skill.ts";

/** The frontmatter and the instructions below it. Undefined if the text has no valid frontmatter. */
export async function parseInstructions(
  text: string,
): Promise<{ readonly frontmatter: JsonObject; readonly body: string } | undefined> {
  const [, yaml, body = ""] = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n([\s\S]*))?$/.exec(text) ?? [];
  if (yaml === undefined || Buffer.byteLength(yaml) > skillLimits.frontmatter) return undefined;
  const { parse } = await import("yaml");
  try {
    // An alias could stand for a value that is many times larger than the text.
    const frontmatter: unknown = parse(yaml, { schema: "core", maxAliasCount: 0, logLevel: "silent" });
    return isObject(frontmatter) ? { frontmatter, body } : undefined;
  } catch {
    return undefined;
  }
}

/** The first member in which the two frontmatters differ. Undefined if they are equal. */
export function differingMember(one: JsonObject, other: JsonObject): string | undefined {
  const members = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...members].find((member) => !isSameJson(one[member], other[member]));
}
