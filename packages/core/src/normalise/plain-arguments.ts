/** Copies the arguments of a call, so that Fairlead shows, compares and sends the same arguments. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { HostError } from "../errors.ts";

/** Returns the arguments as plain JSON. @throws HostError `arguments_invalid` */
export function toPlainArguments(params: unknown, serverName: string): JsonObject {
  const plain = toPlain(params, serverName);
  if (isObject(plain)) return plain;
  throw new HostError("arguments_invalid", "Invalid parameters: must be an object", { serverName });
}

/** Copies a value through JSON text, so that getters, `toJSON` and dates are evaluated only once. */
function toPlain(params: unknown, serverName: string): unknown {
  try {
    return JSON.parse(JSON.stringify(params ?? null));
  } catch (cause) {
    throw new HostError("arguments_invalid", "Invalid parameters: must be JSON", { serverName, cause });
  }
}
