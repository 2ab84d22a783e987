/** One schema while it is read: its keywords come in, a shape and a report of what could not be kept go out. */

import type { JsonObject } from "@fairlead/wire";
import { toModelText } from "../../text/model-text.ts";
import type { RepairAction } from "./compiled-schema.ts";
import type { SchemaDocument, Spot } from "./document.ts";
import { pointerTo } from "./pointer.ts";
import type { Spent } from "./read/bounds.ts";
import type { Shape, TypeName } from "./read/shape.ts";
import { inWords, type TypeStyle } from "./write/type-text.ts";

export type Report = (path: string, keyword: string, action: RepairAction, note: string) => void;

/** What a model's API understands, where they differ. */
export interface ModelDialect {
  /** How it is called in notes. */
  readonly name: string;
  readonly knowsPrefixItems: boolean;
  readonly formats: Readonly<Partial<Record<TypeName, readonly string[]>>>;
  readonly propertyName: RegExp;
  readonly longestName: number;
}

/** What one compilation shares. */
export interface Reading {
  readonly document: SchemaDocument;
  readonly dialect: ModelDialect;
  readonly spent: Spent;
  readonly report: Report;
  /** Schemas that are being read right now: a reference to one of them is a cycle. */
  readonly active: Set<string>;
  /** Schemas that were read. */
  readonly visited: Set<string>;
  /** What is said in the place of a cycle, by where it leads. */
  readonly cycles: Map<string, string>;
  /** Where definitions are kept, to say at the end which of them nothing referred to. */
  readonly containers: Map<string, { path: string; name: string; definitions: readonly string[] }>;
  /** The property names that were read, with where each was first seen. */
  readonly names: Map<string, string>;
  /** The model's name for a property. */
  readonly nameOf: TypeStyle["nameOf"];
  readonly read: (spot: Spot, nesting: number, isRoot?: boolean) => Shape;
}

export interface Place extends Spot {
  readonly raw: JsonObject;
  /** What it asks for, as far as it has been read. */
  shape: Shape;
  readonly reading: Reading;
  readonly nesting: number;
  /** It describes the arguments as a whole, so that it must come out as one object. */
  readonly isRoot: boolean;
}

/** How one keyword is read. A value that does not fit is left out and reported. */
export interface Keyword {
  readonly fits?: (value: unknown) => boolean;
  readonly read: (value: never, place: Place, keyword: string) => void;
}

/** A row of a table of keywords, with its check and its reader of one type. */
export function keyword<T>(
  fits: (value: unknown) => value is T,
  read: (value: T, place: Place, keyword: string) => void,
): Keyword {
  return { fits, read };
}

export function childOf(place: Place, raw: unknown, ...segments: readonly (string | number)[]): Shape {
  return place.reading.read({ raw, path: pointerTo(place.path, ...segments), base: place.base }, place.nesting + 1);
}

/** A schema that speaks of the same value as the place itself does. */
export function partOf(place: Place, raw: unknown, ...segments: readonly (string | number)[]): Shape {
  const spot = { raw, path: pointerTo(place.path, ...segments), base: place.base };
  return place.reading.read(spot, place.nesting + 1, place.isRoot);
}

export function report(place: Place, keyword: string, action: RepairAction, note: string): void {
  place.reading.report(place.path, keyword, action, note);
}

/** Left out, and the model need not know. */
export function drop(place: Place, keyword: string, why: string): void {
  report(place, keyword, "removed", why);
}

/** Left out, but the description says it. */
export function tell(place: Place, keyword: string, sentence: string): void {
  addNote(place.shape, sentence);
  report(place, keyword, "moved", `${place.reading.dialect.name} does not take it; the description says: ${sentence}`);
}

/** What a schema asks for, in words for the model, with the names it knows. */
export function described({ reading }: Place, schema: unknown): string {
  return inWords(schema, reading.nameOf);
}

/** What it quotes is the server's own text. */
export function addNote(shape: Shape, text: string): void {
  const sentence = toModelText(text);
  if (!shape.notes.includes(sentence)) shape.notes = [...shape.notes, sentence];
}

export function hint(place: Place, ...types: readonly TypeName[]): void {
  const { hints } = place.shape;
  if (!types.every((type) => hints.has(type))) place.shape.hints = new Set([...hints, ...types]);
}
