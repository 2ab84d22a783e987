/** Creates a usage error whose next step is the command's `--help`. */

import { HostError } from "@fairlead/core/errors";
import type { Context } from "./verb.ts";

export function usageError(message: string, { command }: Pick<Context, "command">): HostError {
  return new HostError("usage", message, { next: `${command.name()} --help` });
}
