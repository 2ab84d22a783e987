/** The keys of a server that is started: command, arguments, environment and folder. */

import { posix, win32 } from "node:path";
import type { ConversionContext, EntryDraft } from "./draft.ts";
import type { FieldReader } from "./field-reader.ts";
import { literal } from "./references.ts";

/** Returns the `envFile`, which only someone who may read it can convert. */
export function convertCommand(reader: FieldReader, draft: EntryDraft, context: ConversionContext): string | undefined {
  const command = reader.text("command");
  // A bare name is looked up in PATH, wherever the entry stands.
  const isPath = command?.includes("/") || (context.platform === "win32" && command?.includes("\\"));
  if (command !== undefined) draft.set("command", isPath ? anchored("command", command, reader, context) : command);
  const args = reader.texts("args");
  if (args && args.length > 0) draft.set("args", args);
  const env = reader.table("env");
  if (env && env.size > 0) draft.set("env", env);
  const cwd = reader.text("cwd");
  if (cwd !== undefined) draft.set("cwd", anchored("cwd", cwd, reader, context));
  else for (const [at, argument] of (args ?? []).entries()) hintAtRelative(`args[${at}]`, argument, reader, context);
  const envFile = reader.raw("envFile");
  if (envFile !== undefined && typeof envFile !== "string") reader.remark("dropped", "envFile", "is not a text");
  return typeof envFile === "string" ? envFile : undefined;
}

/** A relative path starts in the project of its file; where the entry will stand, it may have to be written out. */
function anchored(key: string, value: string, reader: FieldReader, context: ConversionContext): string {
  const path = context.platform === "win32" ? win32 : posix;
  // `$$` is a dollar sign; any other dollar begins a reference, which decides for itself.
  if (path.isAbsolute(value) || /^(~|\$[^$])/.test(value) || staysInPlace(context)) return value;
  if (context.folder === undefined) {
    const where = context.target === "user" ? "your home folder" : "the workspace";
    reader.remark("hint", key, `is a relative path; here it starts in ${where}`);
    return value;
  }
  const whole = path.join(literal(context.folder), value);
  reader.remark("converted", key, `is relative to its project, so it becomes ${whole}`);
  return whole;
}

function hintAtRelative(key: string, value: string, reader: FieldReader, context: ConversionContext): void {
  if (context.folder === undefined || staysInPlace(context) || !/^\.\.?([/\\]|$)/.test(value)) return;
  const message = `is relative to ${context.folder}, where this server will not be started: give it a cwd or the whole path`;
  reader.remark("hint", key, message, context.folder === context.root ? "fairlead mcp import -s project" : undefined);
}

function staysInPlace({ target, folder, root }: ConversionContext): boolean {
  return target === "workspace" && folder === root;
}
