/** Checks which programs run in a sandbox, and whether this system has one for them. */

import { type UnavailableCause, unavailable, whyNoSandbox } from "@fairlead/core/connect";
import { groupBy } from "@fairlead/core/plain-text";
import { type ServerDefinition, sandboxLine } from "@fairlead/core/settings";
import { type Configuration, programPlace } from "@fairlead/core/trust";
import { type Observation, ok, problem } from "./finding.ts";

/** Why no program can run in a sandbox here. Undefined if one can, or if no program wants to. Tries bubblewrap. */
export async function readSandboxFacts(
  configuration: Configuration,
  definitions: readonly ServerDefinition[],
): Promise<UnavailableCause | undefined> {
  return definitions.some(({ sandbox }) => sandbox !== undefined)
    ? whyNoSandbox(programPlace(configuration))
    : undefined;
}

/** Reports for each program whether it runs in a sandbox. One that must and cannot does not start. */
export function checkSandboxes(
  definitions: readonly ServerDefinition[],
  missing: UnavailableCause | undefined,
): readonly Observation[] {
  const programs = definitions.flatMap((definition) => {
    const { name, sandbox } = definition;
    const line = sandboxLine(definition);
    return line === undefined ? [] : [{ name, line, isBoxed: sandbox !== undefined }];
  });
  const stopped = missing === undefined ? [] : programs.filter(({ isBoxed }) => isBoxed);
  const others = programs.filter((program) => !stopped.includes(program));
  return [
    ...[...groupBy(others, ({ line }) => line)].map(([line, of]) =>
      ok(`${of.map(({ name }) => name).join(", ")}: ${line}`),
    ),
    ...stopped.flatMap(({ name: server }) =>
      missing === undefined ? [] : [{ ...problem(unavailable(server, missing)), server }],
    ),
  ];
}
