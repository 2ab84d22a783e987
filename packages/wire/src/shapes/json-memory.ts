/** Estimates how much memory a message needs when its JSON text is parsed. */

import { WireError } from "../errors.ts";

/** The estimated memory of each kind of value, in bytes. Objects with the same key share the key's memory, `ownKey`. */
export const valueBytes = { object: 56, member: 8, ownKey: 160, list: 32, item: 8, string: 24, number: 16 } as const;
const megabyte = 1024 * 1024;
/** Maximum memory of one parsed message, in bytes. */
export const mostMemory: number = 64 * megabyte;
/** A parsed message may take this many times as much memory as its text may have bytes. */
const memoryShare = 4;
/** This many different keys are counted once each. Further keys are counted each time they occur. */
const sharedKeys = 1_000;

/** Returns how much memory a parsed message may take, in bytes, if its text may have `largest` bytes. */
export function memoryFor(largest: number): number {
  return Math.min(mostMemory, memoryShare * largest);
}

/** Returns the memory of an object's key, in bytes: 0 if an earlier object has it. Adds the key to `keys`. */
export function keyMemory(key: string, keys: Set<string>): number {
  if (keys.has(key)) return 0;
  if (keys.size < sharedKeys) keys.add(key);
  return valueBytes.ownKey + key.length;
}

/**
 * Returns the memory of a list and its items, in bytes. No recursion, because deep nesting would overflow the stack.
 */
export function itemsMemory(items: readonly unknown[], keys: Set<string>): number {
  const open: object[] = [items];
  let used = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (Array.isArray(next)) {
      used += valueBytes.list + valueBytes.item * next.length;
      for (const item of next as readonly unknown[])
        if (typeof item === "object" && item !== null) open.push(item);
        else used += scalarMemory(item);
    } else {
      used += valueBytes.object;
      for (const key in next) {
        const member = (next as Readonly<Record<string, unknown>>)[key];
        used += valueBytes.member + keyMemory(key, keys);
        if (typeof member === "object" && member !== null) open.push(member);
        else used += scalarMemory(member);
      }
    }
  }
  return used;
}

function scalarMemory(value: unknown): number {
  return typeof value === "string" ? valueBytes.string + 2 + value.length : valueBytes.number;
}

/** Returns the error for a message whose parsed values take more than `maxMemory` bytes. */
export function tooMuchMemory(maxMemory: number): WireError {
  const most = Math.round(maxMemory / megabyte);
  const message = `the values of a message take more than ${most} MB of memory`;
  return new WireError("too_large", message, { overMemory: true });
}
