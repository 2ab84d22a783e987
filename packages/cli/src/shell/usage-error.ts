/** A mistake in a command line, with the help of that command as the next step. */

import { HostError } from "@fairlead/core/errors";
import type { Context } from "./verb.ts";

export function usageError(message: string, { command }: Pick<Context, "command">): HostError {
  return new HostError("usage", message, { next: `${command.name()} --help` });
}
