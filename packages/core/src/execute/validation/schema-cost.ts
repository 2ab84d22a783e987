/**
 * Computes an upper bound for the work of a validation without running it, to decide whether the main thread may do it.
 */

import type { JsonObject } from "@fairlead/wire";
import { followReference } from "../../normalise/schema/pointer.ts";

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

/** Maximum number of schema nodes for the main thread: compiling takes 0.1 to 0.2 ms per node, once. */
const maxNodes = 300;
const maxDepth = 32;
const maxPatternWeight = 1000;
/** Maximum characters of a `$id`, because every reference is resolved against it. */
const maxName = 1000;
/** Maximum work on the main thread, in steps of a pattern, each up to 150 ns. */
const maxWork = 500_000;

/** A node of the schema checked on a node of the value may create an issue, which takes as long as 4 steps. */
const nodeWeight = 4;

/** Counting a character (10 ns) and comparing two (0.3 ns) are cheaper than a step of a pattern. */
const lengthWeight = 0.1;
const comparisonWeight = 0.003;
/** The targets of these keywords depend on more than the pointer. */
const names = new Set(["$dynamicRef", "$recursiveRef", "$id", "$anchor", "$dynamicAnchor"]);

/** Whether the validation of a value of this size is cheap enough for the main thread. */
export function isBounded(cost: SchemaCost | undefined, value: ValueSize): boolean {
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

/**
 * Estimates the program size of a pattern before it is compiled: a linear engine takes that many steps per character.
 */
const counted = /^\{(\d+)(,?)(\d*)\}/;

/** Returns an upper estimate. A malformed pattern gets any number and is rejected later. */
export function patternWeight(pattern: string): number {
  // The total weight of each open group, and the weight of its last item, which a repeat count multiplies.
  const totals = [0];
  let last = 0;
  const add = (weight: number): void => {
    last = weight;
    totals.push((totals.pop() ?? 0) + weight);
  };
  for (let at = 0; at < pattern.length; at += 1) {
    const rest = pattern.slice(at, at + 16);
    const repeat = counted.exec(rest);
    if (repeat !== null) {
      const least = Number(repeat[1]);
      const most = repeat[2] === "" ? least : Number(repeat[3] || least + 1);
      // Each optional repetition adds a fork.
      add(last * Math.max(0, most - 1) + Math.max(0, most - least));
      at += repeat[0].length - 1;
    } else if (rest[0] === "(") totals.push(0);
    else if (rest[0] === ")" && totals.length > 1) add((totals.pop() ?? 0) + 2);
    else if (rest[0] === "[") {
      const end = classEnd(pattern, at);
      add(2);
      at = end;
    } else {
      add(1);
      if (rest[0] === "\\") at += 1;
    }
  }
  return totals.reduce((sum, total) => sum + total, 1);
}

function classEnd(pattern: string, start: number): number {
  let at = start + 1;
  while (at < pattern.length && pattern[at] !== "]") at += pattern[at] === "\\" ? 2 : 1;
  return at;
}

interface ValueSize {
  /** The number of objects, lists and values in them. */
  readonly nodes: number;
  /** The number of characters in texts and property names. */
  readonly characters: number;
}

/** Returns the size; undefined if it is over the limit or the value is circular. */
export function measure(value: unknown, limit: ValueSize): ValueSize | undefined {
  const left: unknown[] = [value];
  let [nodes, characters] = [0, 0];
  while (left.length > 0) {
    const next = left.pop();
    nodes += 1;
    if (typeof next === "string") characters += next.length;
    else if (Array.isArray(next)) {
      if (nodes + left.length + next.length > limit.nodes) return undefined;
      for (const item of next) left.push(item);
    } else if (typeof next === "object" && next !== null) {
      // `Object.entries` would create a pair for each member of each call's arguments.
      const members = next as Readonly<Record<string, unknown>>;
      for (const name of Object.keys(members)) {
        characters += name.length;
        left.push(members[name]);
      }
    }
    if (nodes + left.length > limit.nodes || characters > limit.characters) return undefined;
  }
  return { nodes, characters };
}
