/** The secret key of this installation's gateways. It stays the same when a gateway is restarted. */

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import { readState, updateState } from "@fairlead/core/files";
import { isObject, stringOf } from "@fairlead/wire/json";

/** Computes authentication codes that only gateways with the same state folder can compute. */
export interface GatewayKey {
  /** Returns the code of a text. `use` separates the codes of different uses. 128 bits, base64url. */
  codeOf(use: string, text: string): string;
  /** Whether a text from outside is the code of this text. The time of the comparison tells nothing about the code. */
  isCodeOf(use: string, text: string, given: string): boolean;
}

interface StoredKey {
  readonly v: 1;
  readonly key: string;
}

/** Characters of a code: 128 bits in base64url. */
const codeLength = 22;

function keyFile(stateFolder: string): string {
  return join(stateFolder, "gateway-key.json");
}

/** Whether a gateway of this installation has ever run. Each gateway loads the key before its first client. */
export async function hasRunGateway(stateFolder: string): Promise<boolean> {
  return (await readState(keyFile(stateFolder), parse)) !== undefined;
}

/** Loads the key, or creates it. If the state folder is not writable, the key is valid for this process only. */
export async function loadGatewayKey(stateFolder: string): Promise<GatewayKey> {
  const key = await storedKey(keyFile(stateFolder)).catch(() => undefined);
  const bytes = key === undefined ? randomBytes(32) : Buffer.from(key, "hex");
  const codeOf = (use: string, text: string): string =>
    createHmac("sha256", bytes)
      .update(JSON.stringify([use, text]))
      .digest("base64url")
      .slice(0, codeLength);
  return {
    codeOf,
    isCodeOf(use, text, given) {
      const [one, other] = [Buffer.from(given), Buffer.from(codeOf(use, text))];
      return one.length === other.length && timingSafeEqual(one, other);
    },
  };
}

async function storedKey(file: string): Promise<string | undefined> {
  const found = await readState(file, parse);
  if (found !== undefined) return found.key;
  let key: string | undefined;
  await updateState<StoredKey>(file, parse, (stored) => {
    // Another gateway may have created the key in the meantime.
    key = stored?.key ?? randomBytes(32).toString("hex");
    return { v: 1, key };
  });
  return key;
}

function parse(value: unknown): StoredKey | undefined {
  const key = isObject(value) && value["v"] === 1 ? stringOf(value["key"]) : undefined;
  return key !== undefined && /^[0-9a-f]{64}$/.test(key) ? { v: 1, key } : undefined;
}
