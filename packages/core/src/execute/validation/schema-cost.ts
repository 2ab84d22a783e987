/** Estimates in advance how much work a validation takes at most. Only small work may run on the main thread. */

import type { JsonObject } from "@fairlead/wire";
import { followReference } from "../../normalise/schema/pointer.ts";

/** The numbers from which `isBounded` computes the work of a validation. */
export interface SchemaCost {
  /**
   * The number of schema nodes if every `$ref` is replaced by its target. Each node may be checked on each part of the
   * value.
   */
  readonly unfolded: number;
  /** The steps that all regular expressions together take for each character of the value. */
  readonly perCharacter: number;
  /** The number of `uniqueItems` keywords. Each one compares every item with every other item. */
  readonly pairings: number;
}

/** Maximum number of schema nodes for the main thread. Compiling one node takes 0.1 to 0.2 ms. */
const maxNodes = 300;
const maxDepth = 32;
const maxPatternWeight = 1000;
/** Maximum characters of the schema's `$id` for the main thread. A long `$id` makes every reference slower. */
const maxName = 1000;
/** Maximum work on the main thread, in steps of a regular expression (up to 150 ns each). */
const maxWork = 500_000;

/** Steps for checking one schema node on one part of the value. */
const nodeWeight = 4;

/** Steps for counting one character (`minLength`, `maxLength`). */
const lengthWeight = 0.1;
/** Steps for comparing two characters (`uniqueItems`). */
const comparisonWeight = 0.003;
/** Keywords that change where a `$ref` points. `followReference` does not understand them. */
const names = new Set(["$dynamicRef", "$recursiveRef", "$id", "$anchor", "$dynamicAnchor"]);

/** Whether validating a value of this size is cheap enough for the main thread. */
export function isBounded(cost: SchemaCost | undefined, value: ValueSize): boolean {
  if (cost === undefined) return false;
  const work =
    nodeWeight * cost.unfolded * value.nodes +
    cost.perCharacter * value.characters +
    cost.pairings * value.nodes * (value.nodes + comparisonWeight * value.characters);
  return work <= maxWork;
}

/**
 * The cost of a schema. Undefined if the schema is recursive, too large for the main thread, or uses keywords such as
 * `$anchor`.
 */
export function costOf(schema: JsonObject): SchemaCost | undefined {
  const costs = new Map<object, SchemaCost | "open">();
  let [nodes, patterns] = [0, 0];

  function visit(node: unknown, depth: number): SchemaCost | undefined {
    if (typeof node !== "object" || node === null) return { unfolded: 1, perCharacter: 0, pairings: 0 };
    // A list counts as one node, because a long `enum` compiles as fast as a short one.
    nodes += Array.isArray(node) ? 1 : 1 + Object.keys(node).length;
    const seen = costs.get(node);
    // A schema that is still `open` contains itself, so its cost has no limit.
    if (seen === "open" || depth > maxDepth || nodes > maxNodes) return undefined;
    if (seen !== undefined) return seen;
    costs.set(node, "open");
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
    costs.set(node, cost);
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

/** Matches a repeat count such as `{2,5}`. */
const counted = /^\{(\d+)(,?)(\d*)\}/;

/** Estimates from its text how many steps a pattern takes for each character. Never too low for a valid pattern. */
export function patternWeight(pattern: string): number {
  // `totals`: the costs of the groups that are still open at this position. `last`: the cost of the previous element.
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
      // The cost of `a{2,5}` is the cost of `aaaaa` plus one step for each of the three optional `a`.
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
  /** The number of values, counting those inside objects and lists too. */
  readonly nodes: number;
  /** The number of characters in texts and property names. */
  readonly characters: number;
}

/** Returns the size of a value; undefined if the value exceeds the limit or contains itself. */
export function measure(value: unknown, limit: ValueSize): ValueSize | undefined {
  /** Objects and lists whose members are not counted yet. */
  const open: unknown[] = [value];
  let nodes = 1;
  let characters = lengthOf(value);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Array.isArray(next)) {
      nodes += next.length;
      if (nodes > limit.nodes) return undefined;
      for (const item of next) {
        characters += lengthOf(item);
        if (typeof item === "object" && item !== null) open.push(item);
      }
    } else if (typeof next === "object" && next !== null) {
      // This code runs for each call. `Object.entries` would create an array for each argument.
      const members = next as Readonly<Record<string, unknown>>;
      for (const name of Object.keys(members)) {
        const member = members[name];
        nodes += 1;
        characters += name.length + lengthOf(member);
        if (typeof member === "object" && member !== null) open.push(member);
      }
    }
    if (nodes > limit.nodes || characters > limit.characters) return undefined;
  }
  return { nodes, characters };
}

function lengthOf(value: unknown): number {
  return typeof value === "string" ? value.length : 0;
}
