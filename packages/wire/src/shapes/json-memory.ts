/** Estimates the memory of the values of a message while its JSON text is read. */

import { WireError } from "../errors.ts";

/**
 * The estimated memory of each kind of value, in bytes. `ownKey` is the memory of a key that only one object has.
 * Objects that have the same key share its memory.
 */
export const memory = { object: 56, member: 8, ownKey: 160, list: 32, item: 8, string: 24, number: 16 } as const;
const megabyte = 1024 * 1024;
/** Maximum memory of the values of one message. */
export const mostMemory: number = 64 * megabyte;
/** The values of a message may take this many bytes of memory for each byte that its text may have. */
const memoryShare = 4;
/** Maximum number of keys that are counted once. Each use of any other key is counted separately. */
const sharedKeys = 1_000;

/** Returns how much memory the values of a message may take, if its text may have `largest` bytes. */
export function memoryFor(largest: number): number {
  return Math.min(mostMemory, memoryShare * largest);
}

/**
 * Returns the memory of an object's key. The memory is 0 if an earlier object has the same key. `keys` contains the
 * keys of the earlier objects.
 */
export function keyMemory(key: string, keys: Set<string>): number {
  if (keys.has(key)) return 0;
  if (keys.size < sharedKeys) keys.add(key);
  return memory.ownKey + key.length;
}

/**
 * Returns the memory of a list and its items. Works without recursion, because items may be nested deeper than the
 * stack allows.
 */
export function itemsMemory(items: readonly unknown[], keys: Set<string>): number {
  const open: object[] = [items];
  let used = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Array.isArray(next)) {
      used += memory.list + memory.item * next.length;
      for (const item of next as readonly unknown[])
        if (typeof item === "object" && item !== null) open.push(item);
        else used += scalarMemory(item);
    } else {
      used += memory.object;
      for (const key in next) {
        const member = (next as Readonly<Record<string, unknown>>)[key];
        used += memory.member + keyMemory(key, keys);
        if (typeof member === "object" && member !== null) open.push(member);
        else used += scalarMemory(member);
      }
    }
  }
  return used;
}

function scalarMemory(value: unknown): number {
  return typeof value === "string" ? memory.string + 2 + value.length : memory.number;
}

export function tooMuchMemory(maxMemory: number): WireError {
  const most = Math.round(maxMemory / megabyte);
  const message = `the values of a message take more than ${most} MB of memory`;
  return new WireError("too_large", message, { overMemory: true });
}
