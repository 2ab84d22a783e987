/** What is said of a tool in a word or two: by its server, which are claims that nothing checks, and by the rules. */

import type { HostTool } from "@fairlead/core/host";
import type { SafeText } from "@fairlead/core/text/safe-text";
import { safe } from "@fairlead/core/text/safe-text";
import { member } from "@fairlead/wire/json";
import type { Style } from "../output.ts";

type Annotated = Pick<HostTool, "annotations">;

/** Only what is claimed outright: a server that says nothing has not said that its tool is harmless. */
export function badges({ annotations }: Annotated, style: Style): readonly SafeText[] {
  const claims = (hint: string): boolean => member(annotations, hint) === true;
  return [
    ...(claims("readOnlyHint") ? [style.green(safe`[read-only]`)] : []),
    ...(claims("destructiveHint") ? [style.yellow(safe`[destructive]`)] : []),
    // What changes nothing can always be repeated.
    ...(claims("idempotentHint") && !claims("readOnlyHint") ? [style.dim(safe`[idempotent]`)] : []),
    ...(claims("openWorldHint") ? [style.dim(safe`[open world]`)] : []),
  ];
}

/** What is decided about a model's call of it; that most are asked about goes without saying. */
export function ruled({ decision }: Pick<HostTool, "decision">, style: Style): readonly SafeText[] {
  if (decision === "allow") return [style.green(safe`[allowed]`)];
  return decision === "deny" ? [style.red(safe`[denied]`)] : [];
}

/** A tool to suggest to somebody who only looks around. */
export function harmless<T extends Annotated>(tools: readonly T[]): T | undefined {
  return (
    tools.find(({ annotations }) => member(annotations, "readOnlyHint") === true) ??
    tools.find(({ annotations }) => member(annotations, "destructiveHint") !== true)
  );
}
