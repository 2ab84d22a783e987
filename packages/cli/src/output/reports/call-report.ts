/** Prints the outcome of a call, as text or as one JSON document, and saves its media. */

import { HostError } from "@fairlead/core/errors";
import type { CallResult } from "@fairlead/core/execute/call-result";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { contentDocument } from "../../shell/content-block.ts";
import { nothingSaved, saveMedia } from "../../shell/save-media.ts";
import type { Context } from "../../shell/verb.ts";
import { type ToolTarget, targetName } from "../../targets/target.ts";
import { display } from "./display.ts";
import type { DrawImage } from "./inline-image.ts";

/** The result of the tool, and the error if the call failed. */
interface Settled {
  readonly content: CallResult["content"];
  readonly structuredContent?: unknown;
  readonly warnings?: readonly string[];
  readonly error?: HostError;
}

export interface Outcome extends Settled {
  readonly durationMs: number;
}

/** Waits for a call. A tool's own error keeps its content; any other error has none. */
export async function outcomeOfCall(call: Promise<CallResult>, target: ToolTarget): Promise<Settled> {
  try {
    const { isError, ...result } = await call;
    if (!isError) return result;
    const error = new HostError("tool_error", `${targetName(target)} reported an error`, { serverName: target.server });
    return { ...result, error };
  } catch (error) {
    if (error instanceof HostError) return { content: [], error };
    throw error;
  }
}

export interface CallReport extends Omit<Outcome, "error"> {
  readonly target: ToolTarget;
  readonly error: HostError | undefined;
  /** The folder for images and audio; undefined: they are not saved. */
  readonly folder: string | undefined;
  readonly draw: DrawImage | undefined;
}

/** @throws HostError the error of the call, after it is printed: it sets the exit code. */
export async function reportCall(
  { content, target, durationMs, folder, draw, error, warnings: doubts = [], ...data }: CallReport,
  { out, globals: { json } }: Pick<Context, "out" | "globals">,
): Promise<void> {
  const { paths, warnings: unsaved } =
    folder === undefined ? nothingSaved : await saveMedia(content, folder, targetName(target));
  const warnings = [...doubts, ...unsaved];
  const shown = display(content, data, { paths, draw });
  if (json)
    out.json({
      ok: error === undefined,
      ...target,
      content: contentDocument(content),
      ...data,
      display: shown,
      durationMs,
      ...(paths.size > 0 && { saved: [...paths.values()] }),
      ...(warnings.length > 0 && { warnings }),
      ...(error && {
        error: { code: error.code, message: error.message, ...(error.next !== undefined && { next: error.next }) },
      }),
    });
  else if (shown !== "") out.print(shown);
  else if (error === undefined) out.say(safe`${toSafeLine(targetName(target))} returned an empty result`);
  for (const warning of warnings) out.warn(safe`warning: ${toSafeLine(warning)}`);
  if (error !== undefined) throw error;
}
