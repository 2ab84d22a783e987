/** One call of a model in a loop of the embedding program's own: found by its name, confirmed where a rule asks, run. */

import { HostError } from "../errors.ts";
import { isYes, ToolConfirmationOutcome } from "../registry/confirmation.ts";
import type { ToolRegistry } from "../registry/tool-registry.ts";
import { closest } from "../text/closest.ts";
import type { Host, OpenHostOptions } from "./types.ts";

export interface CallAsModelContext {
  readonly registry: ToolRegistry;
  /** The host's own; a call may bring another. */
  readonly confirm: OpenHostOptions["confirm"];
  /** Aborted when the host is closed. */
  readonly closing: AbortSignal;
}

export function createCallAsModel({ registry, confirm: usual, closing }: CallAsModelContext): Host["callAsModel"] {
  return async (name, args = {}, { signal: given, confirm = usual } = {}) => {
    const tool = registry.getTool(name);
    if (tool === undefined) throw unknownTool(name, registry);
    const signal = given ? AbortSignal.any([given, closing]) : closing;
    const details = await tool.shouldConfirmExecute(args, signal);
    if (details !== false) {
      const outcome = (await confirm?.(details, signal)) ?? ToolConfirmationOutcome.Cancel;
      await details.onConfirm(outcome);
      if (!isYes(outcome)) {
        const { serverName, serverToolName } = tool;
        const why = confirm
          ? "the answer to the confirmation was no"
          : "it needs confirmation and there is no confirm()";
        throw new HostError("denied", `${serverName}.${serverToolName} denied: ${why}`, { serverName });
      }
    }
    return tool.execute(args, signal);
  };
}

function unknownTool(name: string, registry: ToolRegistry): HostError {
  const near = closest(
    name,
    registry.getAllTools().map((tool) => tool.name),
  );
  return new HostError(
    "tool_unknown",
    `there is no tool "${name}"${near === undefined ? "" : `; did you mean "${near}"?`}`,
  );
}
