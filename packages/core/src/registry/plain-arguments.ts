/** Arguments as they would be sent, at this moment: whatever happens to the caller's own object later, this is what is shown, compared and sent. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { HostError } from "../errors.ts";

export function toPlainArguments(params: unknown, serverName: string): JsonObject {
  const plain = toPlain(params, serverName);
  if (isObject(plain)) return plain;
  throw new HostError("arguments_invalid", "Invalid parameters: must be an object", { serverName });
}

/** Through the very text that would go out: getters, `toJSON` and dates are settled once. */
function toPlain(params: unknown, serverName: string): unknown {
  try {
    return JSON.parse(JSON.stringify(params ?? null));
  } catch (cause) {
    throw new HostError("arguments_invalid", "Invalid parameters: must be JSON", { serverName, cause });
  }
}
