/** The state of reading one schema: the rules found so far (`Shape`), and the function that reports repairs. */

import type { JsonObject } from "@fairlead/wire";
import { toModelText } from "../../text/model-text.ts";
import type { RepairAction } from "./compile.ts";
import type { SchemaDocument, Spot } from "./document.ts";
import { pointerTo } from "./pointer.ts";
import type { Spent } from "./read/bounds.ts";
import type { Shape, TypeName } from "./read/shape.ts";
import { inWords, type TypeStyle } from "./write/type-text.ts";

/** Records one repair. `path` is a JSON pointer; `note` is a sentence for the user. */
export type Report = (path: string, keyword: string, action: RepairAction, note: string) => void;

/** The keywords, formats and property names that a model's API accepts. */
export interface ModelDialect {
  /** The API's name, for notes. */
  readonly name: string;
  readonly knowsPrefixItems: boolean;
  readonly formats: Readonly<Partial<Record<TypeName, readonly string[]>>>;
  readonly propertyName: RegExp;
  readonly longestName: number;
}

/** The state that all schemas of one compilation share. */
export interface Reading {
  readonly document: SchemaDocument;
  readonly dialect: ModelDialect;
  readonly spent: Spent;
  readonly report: Report;
  /** Paths of the schemas that are being read now. If a schema refers to one of them, the references form a cycle. */
  readonly active: Set<string>;
  /** Paths of the schemas that were read. */
  readonly visited: Set<string>;
  /**
   * Descriptions of schemas that refer to themselves, by path. The description takes the place of the inner reference.
   */
  readonly cycles: Map<string, string>;
  /**
   * The `$defs` and `definitions` that were read, by path. After reading, definitions that nothing refers to are
   * reported.
   */
  readonly containers: Map<string, { path: string; name: string; definitions: readonly string[] }>;
  /** The property names that were read, each with the first path at which it occurs. */
  readonly names: Map<string, string>;
  /** Returns the name that the model gets for a property. */
  readonly nameOf: TypeStyle["nameOf"];
  readonly read: (spot: Spot, nesting: number, isRoot?: boolean) => Shape;
}

/** One schema that is being read. */
export interface SchemaNode extends Spot {
  readonly raw: JsonObject;
  shape: Shape;
  readonly reading: Reading;
  readonly nesting: number;
  /** Whether this schema describes all arguments of the tool. It must then become one object. */
  readonly isRoot: boolean;
}

/** Reads one keyword. If its value is not valid, Fairlead leaves the keyword out and reports this. */
export interface Keyword {
  readonly fits?: (value: unknown) => boolean;
  readonly read: (value: never, node: SchemaNode, keyword: string) => void;
}

/** Defines a keyword. `fits` checks the value before `read` reads it. */
export function keyword<T>(
  fits: (value: unknown) => value is T,
  read: (value: T, node: SchemaNode, keyword: string) => void,
): Keyword {
  return { fits, read };
}

/** Reads a subschema that does not count as the root, such as a property, an item or a condition. */
export function childOf(node: SchemaNode, raw: unknown, ...segments: readonly (string | number)[]): Shape {
  return node.reading.read({ raw, path: pointerTo(node.path, ...segments), base: node.base }, node.nesting + 1);
}

/**
 * Reads a subschema that describes the same value as its parent, such as an alternative. It counts as the root if its
 * parent does.
 */
export function partOf(node: SchemaNode, raw: unknown, ...segments: readonly (string | number)[]): Shape {
  const spot = { raw, path: pointerTo(node.path, ...segments), base: node.base };
  return node.reading.read(spot, node.nesting + 1, node.isRoot);
}

/** Records one repair of the schema that is being read. */
export function report(node: SchemaNode, keyword: string, action: RepairAction, note: string): void {
  node.reading.report(node.path, keyword, action, note);
}

/** Leaves a keyword out. Reports this to the user, but not to the model. */
export function drop(node: SchemaNode, keyword: string, why: string): void {
  report(node, keyword, "removed", why);
}

/** Leaves a keyword out and adds a sentence to the description, so that the model still knows the rule. */
export function tell(node: SchemaNode, keyword: string, sentence: string): void {
  addNote(node.shape, sentence);
  report(
    node,
    keyword,
    "moved",
    `${node.reading.dialect.name} does not accept the keyword; the description says: ${sentence}`,
  );
}

/** Describes a schema in words for the model, with the property names that the model gets. */
export function described({ reading }: SchemaNode, schema: unknown): string {
  return inWords(schema, reading.nameOf);
}

/** Adds a sentence to the description. Removes invisible characters, because the sentence may quote the server. */
export function addNote(shape: Shape, text: string): void {
  const sentence = toModelText(text);
  if (!shape.notes.includes(sentence)) shape.notes = [...shape.notes, sentence];
}

/** Adds types that a keyword implies. */
export function hint(node: SchemaNode, ...types: readonly TypeName[]): void {
  const { hints } = node.shape;
  if (!types.every((type) => hints.has(type))) node.shape.hints = new Set([...hints, ...types]);
}
