/** Warns about broken rules in every command that decides by rules: their author believes that they apply. */

import type { Host } from "@fairlead/core/host";
import { problemLines } from "../output/problem-lines.ts";
import type { Context } from "./verb.ts";

export async function warnOfPolicyProblems(host: Pick<Host, "policy">, { out }: Pick<Context, "out">): Promise<void> {
  const { problems } = await host.policy();
  for (const problem of problems) if (problem.severity === "error") out.warnOnce(problemLines(problem));
}
