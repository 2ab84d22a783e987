/** Large secrets in a keychain with small entries: in parts, of which a first entry tells. Windows holds 2560 bytes in one. */

import type { Keychain } from "./keychain-port.ts";

/** In characters of at most two units of two bytes each. */
const partLength = 600;
const part = new RegExp(`[\\s\\S]{1,${partLength}}`, "gu");
/** What an entry begins with: the secret itself, or where its parts are. */
const whole = "=";
const divided = /^#([0-9a-f]+):(\d+)$/;

/** Whoever reads while another writes gets the old secret or the new one: the new parts come first, then the entry that tells of them. */
export function inParts(keychain: Keychain): Keychain {
  async function partsOf(name: string): Promise<readonly string[]> {
    const [, id = "", count = "0"] = divided.exec((await keychain.get(name)) ?? "") ?? [];
    return partNames(name, id, Number(count));
  }

  async function readParts(names: readonly string[]): Promise<string | undefined> {
    const parts: string[] = [];
    for (const name of names) {
      const part = await keychain.get(name);
      if (part === undefined) return undefined;
      parts.push(part);
    }
    return parts.join("");
  }

  async function removeAll(names: readonly string[]): Promise<void> {
    for (const name of names) await keychain.remove(name);
  }

  return {
    async get(name) {
      const first = await keychain.get(name);
      if (first === undefined || first.startsWith(whole)) return first?.slice(whole.length);
      // A part that is gone has been replaced meanwhile, and the first entry tells of others now.
      const value = (await readParts(await partsOf(name))) ?? (await readParts(await partsOf(name)));
      if (value === undefined || value === "") throw new Error("a part of it is missing");
      return value;
    },
    async set(name, value) {
      const before = await partsOf(name);
      const parts = value.match(part) ?? [];
      if (parts.length <= 1) await keychain.set(name, `${whole}${value}`);
      else {
        const { randomBytes } = await import("node:crypto");
        const id = randomBytes(6).toString("hex");
        const names = partNames(name, id, parts.length);
        for (const [index, part] of parts.entries()) await keychain.set(names[index] ?? "", part);
        await keychain.set(name, `#${id}:${parts.length}`);
      }
      await removeAll(before);
    },
    async remove(name) {
      const parts = await partsOf(name);
      const isRemoved = await keychain.remove(name);
      await removeAll(parts);
      return isRemoved;
    },
  };
}

/** No secret's own name has a `#` in it. */
function partNames(name: string, id: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${name}#${id}.${index}`);
}
