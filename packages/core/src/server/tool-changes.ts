/** Compares tool definitions. Only members that a person or a model sees belong to a definition. Pure. */

import { hash } from "node:crypto";
import { isObject } from "@fairlead/wire/json";
import type { ToolChanges } from "../events.ts";
import { canonicalJson } from "../text/canonical-json.ts";
import { isSameJson } from "../text/same-json.ts";
import { createTurns } from "../text/turns.ts";
import type { CatalogTool } from "./catalog.ts";

/**
 * A changed member of a definition. A new member has no `before`, a removed member has no `after`. Texts are not
 * escaped.
 */
export interface Difference {
  /** Path of the member, such as `inputSchema.properties.path.type`. */
  readonly member: string;
  readonly before?: string;
  readonly after?: string;
}

/** Added, removed and changed tools, by name. */
export function toolChanges(before: readonly CatalogTool[], after: readonly CatalogTool[]): ToolChanges {
  if (before.length === 0) return { added: after.map(({ name }) => name), removed: [], changed: [] };
  const old = new Map(before.map((tool) => [tool.name, tool]));
  const now = new Set(after.map(({ name }) => name));
  return {
    added: after.flatMap(({ name }) => (old.has(name) ? [] : [name])),
    removed: before.flatMap(({ name }) => (now.has(name) ? [] : [name])),
    changed: after.flatMap((tool) => {
      const earlier = old.get(tool.name);
      return earlier === undefined || isSameDefinition(earlier, tool) ? [] : [tool.name];
    }),
  };
}

/** Whether two definitions are equal. */
export function isSameDefinition(one: CatalogTool, other: CatalogTool): boolean {
  return one === other || isSameJson(definingMembers(one), definingMembers(other));
}

/** The definition as JSON with sorted members. Equal definitions have equal texts. */
export function definitionOf(tool: CatalogTool): string {
  return canonicalJson(definingMembers(tool));
}

const digests = new WeakMap<CatalogTool, string>();

/** SHA-256 of the definition. An approval is valid for one digest. */
export function definitionDigest(tool: CatalogTool): string {
  return digests.get(tool) ?? addDigest(tool).digest;
}

/** Computes the digests of all tools before they are needed. Pauses between tools, so that other code can run. */
export async function prepareDigests(tools: readonly CatalogTool[]): Promise<void> {
  const turns = createTurns();
  for (const tool of tools) {
    const next = digests.has(tool) ? undefined : turns.done(addDigest(tool).size);
    if (next) await next;
  }
}

function addDigest(tool: CatalogTool): { readonly digest: string; readonly size: number } {
  const definition = definitionOf(tool);
  const digest = hash("sha256", definition, "hex");
  digests.set(tool, digest);
  return { digest, size: definition.length };
}

/** The changed members of a definition. */
export function differenceOf(before: CatalogTool, after: CatalogTool): readonly Difference[] {
  return differencesIn("", definingMembers(before), definingMembers(after), 0);
}

/** The members in which two values differ, such as the definitions of a prompt. */
export function membersDifference(before: object, after: object): readonly Difference[] {
  return differencesIn("", before, after, 0);
}

type Definition = Pick<CatalogTool, "name" | "title" | "description" | "inputSchema" | "outputSchema" | "annotations">;

/** The members that belong to a definition. Leaves out all other members, such as icons. */
function definingMembers(tool: CatalogTool): Definition {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  return {
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    ...(annotations !== undefined && { annotations }),
  };
}

/** Maximum depth to which members are compared one by one. Deeper values are compared as a whole. */
const mostLevels = 8;

function differencesIn(path: string, before: object, after: object, level: number): readonly Difference[] {
  const old = new Map<string, unknown>(Object.entries(before));
  const now = new Map<string, unknown>(Object.entries(after));
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((name) => {
    const [was, is] = [old.get(name), now.get(name)];
    if (canonicalJson(was) === canonicalJson(is) && old.has(name) === now.has(name)) return [];
    const member = path === "" ? name : `${path}.${name}`;
    if (isObject(was) && isObject(is) && level < mostLevels) return differencesIn(member, was, is, level + 1);
    return [
      {
        member,
        before: old.has(name) ? toText(was) : undefined,
        after: now.has(name) ? toText(is) : undefined,
      },
    ];
  });
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : canonicalJson(value);
}
