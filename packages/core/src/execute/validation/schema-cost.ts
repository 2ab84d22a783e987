/** How much work a schema can ask for at most, found without running it: decides whether the main thread may do it. */

import type { JsonObject } from "@fairlead/wire";
import { followReference } from "../../normalise/schema/pointer.ts";
import { patternWeight } from "./pattern-weight.ts";
import type { ValueSize } from "./value-size.ts";

/**
 * Without recursion, a schema with its references written out meets each node of a value at most once in each of its own.
 * So the product of the two sizes bounds the work, and a small schema that unfolds into a large one is seen for what it is.
 */
export interface SchemaCost {
  /** Nodes of the schema with every reference written out. */
  readonly unfolded: number;
  /** Steps that its patterns take for each character. */
  readonly perCharacter: number;
  /** `uniqueItems`: every item is compared with every other, and texts may differ in their last character only. */
  readonly pairings: number;
}

/** To compile takes 0.1 to 0.2 ms a node; this is what the main thread is ready to wait for, once. */
const maxNodes = 300;
const maxDepth = 32;
const maxPatternWeight = 1000;
/** Of the schema itself: every reference is resolved against it. */
const maxName = 1000;
/** Steps of a pattern, of up to 150 ns. */
const maxWork = 500_000;

/** A node of the schema on one of the value may make an issue, which takes as long as some steps of a pattern. */
const nodeWeight = 4;

/** Counting a character of a text (10 ns) is that much cheaper than a step of a pattern; comparing one with another (0.3 ns) still more. */
const lengthWeight = 0.1;
const comparisonWeight = 0.003;
/** Where these lead depends on more than the pointer that is written there. */
const names = new Set(["$dynamicRef", "$recursiveRef", "$id", "$anchor", "$dynamicAnchor"]);

export function isBounded(schema: JsonObject, value: ValueSize): boolean {
  const cost = costOf(schema);
  if (cost === undefined) return false;
  const work =
    nodeWeight * cost.unfolded * value.nodes +
    cost.perCharacter * value.characters +
    cost.pairings * value.nodes * (value.nodes + comparisonWeight * value.characters);
  return work <= maxWork;
}

/** `undefined` if there is no bound, or if the schema alone is more than the main thread should take on. */
export function costOf(schema: JsonObject): SchemaCost | undefined {
  const known = new Map<object, SchemaCost | "open">();
  let [nodes, patterns] = [0, 0];

  function visit(node: unknown, depth: number): SchemaCost | undefined {
    if (typeof node !== "object" || node === null) return { unfolded: 1, perCharacter: 0, pairings: 0 };
    // The items of a list are counted by what they are: a long `enum` compiles as fast as a short one.
    nodes += Array.isArray(node) ? 1 : 1 + Object.keys(node).length;
    const seen = known.get(node);
    // Still being visited: it leads to itself.
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
