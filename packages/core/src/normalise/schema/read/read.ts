/** Converts one schema to a `Shape`. Every keyword is kept or reported. */

import { isObject } from "@fairlead/wire/json";
import { baseOf, type Spot } from "../document.ts";
import { quote } from "../json-values.ts";
import { lastStep } from "../pointer.ts";
import { drop, type Keyword, type Reading, type SchemaNode } from "../schema-node.ts";
import { schemaLimits, spendSubschema, tooLarge } from "./bounds.ts";
import { annotations } from "./read-annotations.ts";
import { combinations } from "./read-combinations.ts";
import { arrays, objects } from "./read-containers.ts";
import { references } from "./read-references.ts";
import { numbers, strings } from "./read-scalars.ts";
import { types, values } from "./read-values.ts";
import { emptyShape, type Shape } from "./shape.ts";

/** The keywords in the order in which they are read. Reading a keyword may use the results of earlier keywords. */
const keywords: ReadonlyMap<string, Keyword & { readonly rank: number }> = new Map(
  [
    ...Object.entries({
      ...annotations,
      ...types,
      ...values,
      ...numbers,
      ...strings,
      ...arrays,
      ...objects,
      ...references,
    }),
    ...combinations,
  ].map(([name, reader], rank) => [name, { ...reader, rank }]),
);

/** Reads one schema into a `Shape`. `nesting` counts the schemas around it. @throws HostError `quarantined` */
export function readSchema(spot: Spot, nesting: number, isRoot: boolean, reading: Reading): Shape {
  const { raw, path } = spot;
  spendSubschema(reading.spent);
  if (nesting > schemaLimits.nesting)
    throw tooLarge(`follows more than ${schemaLimits.nesting} references and alternatives`);
  const shape = emptyShape(path);
  if (raw === true) return shape;
  if (!isObject(raw)) {
    const why =
      raw === false
        ? "The description says that no value is accepted."
        : `${quote(raw)} is not a schema: any value is accepted.`;
    reading.report(...lastStep(path), "rewritten", why);
    return raw === false ? { ...shape, notes: ["Must not be given."] } : shape;
  }
  const node: SchemaNode = { raw, path, base: baseOf(raw, spot.base), shape, reading, nesting, isRoot };
  reading.active.add(path);
  reading.visited.add(path);
  for (const name of inOrder(raw)) readKeyword(name, raw[name], node);
  reading.active.delete(path);
  return node.shape;
}

function inOrder(raw: object): readonly string[] {
  const rankOf = (name: string): number => keywords.get(name)?.rank ?? Number.POSITIVE_INFINITY;
  const names = Object.keys(raw);
  return names.length < 2 ? names : names.sort((a, b) => rankOf(a) - rankOf(b) || 0);
}

function readKeyword(name: string, value: unknown, node: SchemaNode): void {
  const definition = keywords.get(name);
  if (definition === undefined) drop(node, name, `${node.reading.dialect.name} does not know the keyword.`);
  else if (definition.fits?.(value) === false) drop(node, name, `${quote(value)} is not a valid value.`);
  else definition.read(value as never, node, name);
}
