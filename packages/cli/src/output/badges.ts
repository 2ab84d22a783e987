/** What a server says that its tool does, in words. These are claims: nothing checks them. */

import type { HostTool } from "@fairlead/core/host";
import type { SafeText } from "@fairlead/core/text/safe-text";
import { safe } from "@fairlead/core/text/safe-text";
import { member } from "./json-shape.ts";
import type { Style } from "./output.ts";

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

/** A tool to suggest to somebody who only looks around. */
export function harmless<T extends Annotated>(tools: readonly T[]): T | undefined {
  return (
    tools.find(({ annotations }) => member(annotations, "readOnlyHint") === true) ??
    tools.find(({ annotations }) => member(annotations, "destructiveHint") !== true)
  );
}
