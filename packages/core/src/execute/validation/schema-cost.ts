/**
 * Computes an upper bound for the work of a validation without running it, to decide whether the main thread may do it.
 */

import type { JsonObject } from "@fairlead/wire";
import { followReference } from "../../normalise/schema/pointer.ts";
import { patternWeight } from "./pattern-weight.ts";
import type { ValueSize } from "./value-size.ts";

/**
 * The cost of a schema. Without recursion, each node of the schema (references inlined) checks each node of the value
 * at most once. So the product of the two sizes bounds the work, even for a small schema that references itself many
 * times.
 */
export interface SchemaCost {
  /** Nodes of the schema with all references inlined. */
  readonly unfolded: number;
  /** Steps of all patterns for each character. */
  readonly perCharacter: number;
  /**
   * Number of `uniqueItems`: each item is compared with each other, and texts may differ in the last character only.
   */
  readonly pairings: number;
}

/** Compiling takes 0.1 to 0.2 ms per node; the main thread accepts this much, once. */
const maxNodes = 300;
const maxDepth = 32;
const maxPatternWeight = 1000;
/** In characters. Every reference is resolved against the `$id` of the schema. */
const maxName = 1000;
/** In steps of a pattern, each up to 150 ns. */
const maxWork = 500_000;

/** A node of the schema checked on a node of the value may create an issue, which takes as long as 4 steps. */
const nodeWeight = 4;

/** Counting a character (10 ns) and comparing two (0.3 ns) are cheaper than a step of a pattern. */
const lengthWeight = 0.1;
const comparisonWeight = 0.003;
/** The targets of these keywords depend on more than the pointer. */
const names = new Set(["$dynamicRef", "$recursiveRef", "$id", "$anchor", "$dynamicAnchor"]);

/** Whether the validation is cheap enough for the main thread. */
export function isBounded(schema: JsonObject, value: ValueSize): boolean {
  const cost = costOf(schema);
  if (cost === undefined) return false;
  const work =
    nodeWeight * cost.unfolded * value.nodes +
    cost.perCharacter * value.characters +
    cost.pairings * value.nodes * (value.nodes + comparisonWeight * value.characters);
  return work <= maxWork;
}

/** Returns the cost; undefined if there is no bound, or if the schema alone is too large for the main thread. */
export function costOf(schema: JsonObject): SchemaCost | undefined {
  const known = new Map<object, SchemaCost | "open">();
  let [nodes, patterns] = [0, 0];

  function visit(node: unknown, depth: number): SchemaCost | undefined {
    if (typeof node !== "object" || node === null) return { unfolded: 1, perCharacter: 0, pairings: 0 };
    // A list counts as one node: a long `enum` compiles as fast as a short one.
    nodes += Array.isArray(node) ? 1 : 1 + Object.keys(node).length;
    const seen = known.get(node);
    // Still open: the schema references itself.
    if (seen === "open" || depth > maxDepth || nodes > maxNodes) return undefined;
    if (seen !== undefined) return seen;
    known.set(node, "open");
    const cost = { unfolded: 1, perCharacter: 0, pairings: 0 };
    for (const [key, member] of Object.entries(node)) {
      const isReference = key === "$ref" && typeof member === "string";
      if (names.has(key) && typeof member === "string" && !isOwnName(key, member, node)) return undefined;
      const inner = visit(isReference ? followReference(schema, member) : member, isReference ? 0 : depth + 1);
      if (inner === undefined) return undefined;
      cost.unfolded += inner.unfolded;
      cost.perCharacter += inner.perCharacter + textWork(key, member);
      cost.pairings += inner.pairings + (key === "uniqueItems" && member === true ? 1 : 0);
    }
    known.set(node, cost);
    return cost;
  }

  function isOwnName(key: string, name: string, node: object): boolean {
    return key === "$id" && node === schema && name.length <= maxName;
  }

  function textWork(key: string, member: unknown): number {
    if (key === "minLength" || key === "maxLength") return lengthWeight;
    const weight = patternsOf(key, member).reduce((sum, pattern) => sum + patternWeight(pattern), 0);
    patterns += weight;
    return weight;
  }

  const cost = visit(schema, 0);
  return patterns > maxPatternWeight ? undefined : cost;
}

function patternsOf(key: string, member: unknown): readonly string[] {
  if (key === "pattern" && typeof member === "string") return [member];
  return key === "patternProperties" && typeof member === "object" && member !== null ? Object.keys(member) : [];
}
