/** Runs a command of ours with the folder and the settings of this app, and gives what it printed. */

import { HostError } from "@fairlead/core/errors";
import type { Context, Globals } from "../shell/verb.ts";
import { captured } from "./captured.ts";

/** Throws what the command throws, unless it said more than that: then both are shown. */
export async function runVerbHere(words: readonly string[], context: Context, columns: number): Promise<string> {
  const { context: quiet, text } = captured(context, columns);
  try {
    await context.runWords([...globalWords(context.globals), ...words], quiet.io, quiet.out);
  } catch (error) {
    if (!(error instanceof HostError) || text() === "") throw error;
    throw new HostError(error.code, `${text()}\n${error.message}`, {
      ...(error.next !== undefined && { next: error.next }),
    });
  }
  return text();
}

/** As they were given to the app. */
function globalWords({ root, settings, workspace, trustWorkspace }: Globals): readonly string[] {
  return [
    ...(root === undefined ? [] : ["-C", root]),
    ...(settings === undefined ? [] : ["--settings", settings]),
    ...(workspace ? [] : ["--no-workspace"]),
    ...(trustWorkspace ? ["--trust-workspace"] : []),
  ];
}
