/** Splits large secrets into several keychain entries, because an entry on Windows holds at most 2560 bytes. */

import type { Keychain } from "./keychain-port.ts";

/** In characters of at most two units of two bytes each. */
const partLength = 600;
const part = new RegExp(`[\\s\\S]{1,${partLength}}`, "gu");
/** The first characters of an entry: the secret itself, or the list of its parts. */
const whole = "=";
const divided = /^#([0-9a-f]+):(\d+)$/;

/** A keychain for large secrets. New parts are written before the first entry, so that a reader gets the old or the new secret. */
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
      // A missing part means that the secret was replaced meanwhile; read the first entry again.
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

/** The names of the parts; no secret's name contains `#`. */
function partNames(name: string, id: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${name}#${id}.${index}`);
}
