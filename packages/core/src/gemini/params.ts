/** The `params` of a tool call, as a program passes them. */

import type { JsonObject } from "@fairlead/wire";
import { HostError } from "../errors.ts";
import { toPlainArguments } from "../normalise/plain-arguments.ts";

/**
 * Returns a copy of the params as plain JSON. `call` is the method as the message shows it.
 *
 * @throws HostError `usage` that begins with the text of Gemini CLI and names the parameter
 */
export function readParams(call: string, params: unknown, serverName: string): JsonObject {
  try {
    return toPlainArguments(params, serverName);
  } catch (cause) {
    if (!(cause instanceof HostError)) throw cause;
    throw new HostError("usage", `${cause.message} ("params" of ${call})`, { cause, serverName });
  }
}
