/** Reads references and definitions. Replaces each reference by its target. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import type { Spot } from "../document.ts";
import { isText, quote } from "../json-values.ts";
import { pointerTo } from "../pointer.ts";
import {
  addNote,
  described,
  drop,
  type Keyword,
  keyword,
  type Reading,
  report,
  type SchemaNode,
} from "../schema-node.ts";
import { spendBytes } from "./bounds.ts";
import { meet } from "./merge.ts";
import { emptyShape, type Shape } from "./shape.ts";

/**
 * The API restricts references (Gemini API types, `responseJsonSchema`). If it rejects one, every prompt fails
 * (gemini-cli #7567).
 */
const reference: Keyword = keyword(isText, readReference);

/** The functions that read these keywords, by keyword. */
export const references: Readonly<Record<string, Keyword>> = {
  $defs: keyword(isObject, readDefinitions),
  definitions: keyword(isObject, readDefinitions),
  $ref: reference,
  $dynamicRef: reference,
  $recursiveRef: reference,
};

function readDefinitions(value: JsonObject, node: SchemaNode, name: string): void {
  node.reading.containers.set(pointerTo(node.path, name), {
    path: node.path,
    name,
    definitions: Object.keys(value),
  });
}

/** Reports what happened to `$defs`: its definitions replaced the references to them, or nothing refers to them. */
export function reportDefinitions({ containers, visited, report }: Reading): void {
  for (const [pointer, { path, name, definitions }] of containers) {
    const unused = definitions.filter((definition) => !visited.has(pointerTo(pointer, definition)));
    const isUsed = unused.length < definitions.length;
    report(
      path,
      name,
      isUsed ? "rewritten" : "removed",
      isUsed ? "References are replaced by their targets." : "Nothing refers to this definition.",
    );
    if (isUsed)
      for (const definition of unused) report(pointer, definition, "removed", "Nothing refers to this definition.");
  }
}

function readReference(value: string, node: SchemaNode, name: string): void {
  const target = node.reading.document.resolve(value, node.base);
  if (target === undefined) {
    /** Nothing is fetched, because a server must not make Fairlead send requests to an address of its choice. */
    drop(node, name, `The reference leads to ${quote(value)}, which is not part of this schema and is not fetched.`);
    return;
  }
  const isCycle = node.reading.active.has(target.path);
  if (!isCycle) spendBytes(node.reading.spent, Buffer.byteLength(JSON.stringify(target.raw)));
  const shape = isCycle ? cut(target, node) : node.reading.read(target, node.nesting + 1, node.isRoot);
  const isAlone = Object.keys(node.raw).length === 1;
  const note = isCycle
    ? "The reference is part of a cycle; a note in the description replaces it."
    : "The target replaces the reference.";
  report(node, name, isAlone ? "rewritten" : "merged", note);
  node.shape = isAlone ? shape : meet(node.shape, shape, node.reading);
}

/** Ends a cycle of references: a note in words replaces the reference. */
function cut(target: Spot, node: SchemaNode): Shape {
  const shape = emptyShape(node.path);
  const type: unknown = isObject(target.raw)
    ? (target.raw["type"] ?? ("properties" in target.raw ? "object" : undefined))
    : undefined;
  if (type === "object" || type === "array") shape.types = new Set([type]);
  const { cycles } = node.reading;
  const form = cycles.get(target.path) ?? described(node, target.raw);
  cycles.set(target.path, form);
  addNote(shape, `A value of this form again: ${form}.`);
  return shape;
}
