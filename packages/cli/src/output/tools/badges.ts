/** Short labels of a tool: annotations, which are unverified claims of the server, and the decision of the rules. */

import type { HostTool } from "@fairlead/core/host";
import type { SafeText } from "@fairlead/core/text/safe-text";
import { safe } from "@fairlead/core/text/safe-text";
import { member } from "@fairlead/wire/json";
import type { Style } from "../output.ts";

type Annotated = Pick<HostTool, "annotations">;

/** Labels for annotations that are `true`; a missing annotation does not mean that a tool is harmless. */
export function badges({ annotations }: Annotated, style: Style): readonly SafeText[] {
  const claims = (hint: string): boolean => member(annotations, hint) === true;
  return [
    ...(claims("readOnlyHint") ? [style.green(safe`[read-only]`)] : []),
    ...(claims("destructiveHint") ? [style.yellow(safe`[destructive]`)] : []),
    // A read-only tool is idempotent anyway.
    ...(claims("idempotentHint") && !claims("readOnlyHint") ? [style.dim(safe`[idempotent]`)] : []),
    ...(claims("openWorldHint") ? [style.dim(safe`[open world]`)] : []),
  ];
}

/** The label for a call by a model; `ask` is the usual decision and has no label. */
export function ruled({ decision }: Pick<HostTool, "decision">, style: Style): readonly SafeText[] {
  if (decision === "allow") return [style.green(safe`[allowed]`)];
  return decision === "deny" ? [style.red(safe`[denied]`)] : [];
}

/** The tool to use in an example: read-only if there is one, else not destructive. */
export function harmless<T extends Annotated>(tools: readonly T[]): T | undefined {
  return (
    tools.find(({ annotations }) => member(annotations, "readOnlyHint") === true) ??
    tools.find(({ annotations }) => member(annotations, "destructiveHint") !== true)
  );
}
