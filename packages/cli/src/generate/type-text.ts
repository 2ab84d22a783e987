/** TypeScript types as text: unions, intersections, objects and maps. Pure functions. */

import { toLiteralType } from "./source-text.ts";

/** A type as the list of a union's alternatives. A type without a union has one alternative. */
export interface TypeText {
  readonly alternatives: readonly string[];
  readonly isIntersection?: boolean;
  /**
   * Whether the type is only the name of a JSON type, such as `string`. If `enum` or another keyword gives a narrower
   * type, only the narrower type is written.
   */
  readonly isBare?: boolean;
}

/** The type of any value. */
export const unknownType: TypeText = { alternatives: ["unknown"] };
/** The type that no value has. */
export const neverType: TypeText = { alternatives: ["never"] };
/** An object with any members. */
export const anyObject: TypeText = { alternatives: ["{ [key: string]: unknown }"], isBare: true };
/** An object that must have no members. */
export const emptyObject: TypeText = { alternatives: ["{ [key: string]: never }"] };

/** Whether the type accepts any value. */
export function isUnknown({ alternatives }: TypeText): boolean {
  return alternatives.includes("unknown");
}

const longestLine = 100;

/** Returns the type as TypeScript source. A long union has one line for each alternative. */
export function toText({ alternatives }: TypeText): string {
  const line = alternatives.join(" | ");
  if (alternatives.length === 1 || line.length <= longestLine) return line;
  return alternatives.map((one) => `\n  | ${indent(one)}`).join("");
}

/** Returns the type as an operand of `&`, `[]` or `?`, in parentheses if necessary. */
export function toOperand(type: TypeText): string {
  if (type.alternatives.length === 1 && type.isIntersection !== true) return toText(type);
  const text = toText(type);
  return text.startsWith("\n") ? `(${text}\n)` : `(${text})`;
}

function indent(text: string): string {
  return text.replaceAll("\n", "\n  ");
}

/** Makes a union of the alternatives. If one alternative accepts any value, the union accepts any value. */
export function unionOf(types: readonly TypeText[]): TypeText {
  if (types.some(isUnknown)) return unknownType;
  const [only, ...others] = types;
  if (only !== undefined && others.length === 0) return only;
  const alternatives = [...new Set(types.flatMap((type) => type.alternatives))].filter((one) => one !== "never");
  const isBare = types.every((type) => type.isBare === true);
  // Alternatives that are `never` or equal leave one, which may be an intersection.
  const isIntersection =
    alternatives.length === 1 &&
    types.some((type) => type.isIntersection === true && type.alternatives[0] === alternatives[0]);
  return alternatives.length === 0 ? neverType : { alternatives, isBare, isIntersection };
}

/** A type derived from one part of a JSON Schema, such as `$ref` or `anyOf`. */
export interface KeywordType {
  readonly type: TypeText;
  /**
   * Returns the number of alternatives, including those of the types that this type refers to. It is a function,
   * because only an intersection of several types needs the number.
   */
  readonly count: () => number;
}

/** Maximum number of alternatives in an intersection. Compilers refuse an intersection with too many alternatives. */
const mostProducts = 128;

/**
 * Intersects the types. Leaves out a type that would create too many alternatives. The result then accepts more values.
 */
export function intersectionOf(types: readonly KeywordType[]): TypeText {
  const exact = types.filter(({ type }) => !isUnknown(type) && type.isBare !== true);
  const [only, ...others] = exact;
  if (only === undefined) return types.find(({ type }) => !isUnknown(type))?.type ?? unknownType;
  if (others.length === 0) return only.type;
  let product = 1;
  const kept = exact.filter(({ count }, at) => {
    const next = product * Math.max(count(), 1);
    if (at > 0 && next > mostProducts) return false;
    product = next;
    return true;
  });
  const texts = [...new Set(kept.map(({ type }) => toOperand(type)))];
  return texts.length === 1 ? only.type : { alternatives: [texts.join(" & ")], isIntersection: true };
}

const mostLiterals = 1_000;

/** Returns a union of literal types. */
export function literalsOf(values: readonly unknown[]): TypeText {
  const literals = values.slice(0, mostLiterals + 1).map(toLiteralType);
  if (literals.length > mostLiterals || literals.includes(undefined)) return unknownType;
  return unionOf([neverType, ...literals.map((literal) => ({ alternatives: [literal ?? ""] }))]);
}

/** Returns an object type. Each member is a comment and a declaration. A short type without comments is on one line. */
export function objectOfMembers(members: readonly (readonly string[])[]): TypeText {
  const lines = members.flat();
  const line = `{ ${lines.join(" ").replace(/;$/, "")} }`;
  if (lines.length === members.length && !line.includes("\n") && line.length <= longestLine)
    return { alternatives: [line] };
  return { alternatives: [`{${lines.map((each) => `\n  ${indent(each)}`).join("")}\n}`] };
}

/**
 * Returns an object type with these values. Uses an index signature, because an alias of `Record` cannot contain
 * itself.
 */
export function mapOf(values: TypeText): TypeText {
  return isUnknown(values) ? anyObject : { alternatives: [`{ [key: string]: ${indent(toText(values))} }`] };
}
