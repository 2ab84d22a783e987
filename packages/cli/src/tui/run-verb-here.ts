/** Runs a `fairlead` command inside the app, with the app's folder and settings. */

import { HostError } from "@fairlead/core/errors";
import type { Context, Globals } from "../shell/verb.ts";
import { captured } from "./captured.ts";

/** Returns the output. @throws HostError the command's error, with the output before its message */
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

/** The global options of the app. */
function globalWords({ root, settings, workspace, trustWorkspace }: Globals): readonly string[] {
  return [
    ...(root === undefined ? [] : ["-C", root]),
    ...(settings === undefined ? [] : ["--settings", settings]),
    ...(workspace ? [] : ["--no-workspace"]),
    ...(trustWorkspace ? ["--trust-workspace"] : []),
  ];
}
