/** Prints the results of `call`, `prompt` and `read`, as text or as one JSON document, and saves their media. */

import { HostError } from "@fairlead/core/errors";
import type { Host } from "@fairlead/core/host";
import { blockText, plainDisplay, withoutLineEnd } from "@fairlead/core/normalise";
import { flagsOfResult, flagWords } from "@fairlead/core/plain-text";
import type { CallResult, ResourceAddress } from "@fairlead/core/request";
import {
  joinSafe,
  type SafeText,
  safe,
  splitSafe,
  toSafeLine,
  toSafeText,
  toVisibleLine,
} from "@fairlead/core/text/safe-text";
import {
  contentDocument,
  mediaOf,
  nothingSaved,
  type ResultBlock,
  type SavePlace,
  saveAll,
  saveMedia,
} from "../../shell/save-media.ts";
import type { Context } from "../../shell/verb.ts";
import { type ToolTarget, targetName } from "../../targets/target.ts";
import { errorDocument, unlessEmpty } from "../output.ts";
import type { DrawImage } from "./inline-image.ts";

/** The result of the tool, and the error if the call failed. */
interface Settled {
  readonly content: CallResult["content"];
  readonly structuredContent?: unknown;
  readonly warnings?: readonly string[];
  readonly error?: HostError;
}

/** Waits for a call. If the tool reported an error, returns both a `HostError` and the tool's result. */
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

/** What `reportCall` prints. */
export interface CallReport extends Settled {
  readonly durationMs: number;
  readonly target: ToolTarget;
  /** The folder for images and audio. Undefined if they are not saved. */
  readonly folder: string | undefined;
  readonly draw: DrawImage | undefined;
}

/**
 * Prints the outcome of a call.
 * @throws HostError the error of the failed call, which determines the exit code
 */
export async function reportCall(
  { content, target, durationMs, folder, draw, error, warnings: doubts = [], ...data }: CallReport,
  { out, globals: { json } }: Pick<Context, "out" | "globals">,
): Promise<void> {
  const { paths, warnings: unsaved } =
    folder === undefined ? nothingSaved : await saveMedia(content, folder, targetName(target));
  const warnings = [...doubts, ...unsaved];
  const shown = display(content, data, { paths, draw });
  const flags = flagsOfResult(content);
  if (json)
    out.json({
      ok: error === undefined,
      ...target,
      content: contentDocument(content),
      ...data,
      display: shown,
      durationMs,
      saved: unlessEmpty([...paths.values()]),
      warnings: unlessEmpty(warnings),
      flags: unlessEmpty(flags),
      error: error && errorDocument(error),
    });
  else if (shown !== "") out.print(shown);
  else if (error === undefined) out.say(safe`${toSafeLine(targetName(target))} returned an empty result`);
  for (const warning of warnings) out.warn(safe`warning: ${toSafeLine(warning)}`);
  for (const flag of flags) out.warn(safe`flag: ${toVisibleLine(flagWords(flag))}`);
  if (error !== undefined) throw error;
}

interface DisplayOptions {
  readonly paths?: ReadonlyMap<ResultBlock, string>;
  /** Draws an image. Set only if the terminal can draw images. */
  readonly draw?: DrawImage | undefined;
}

/**
 * Formats the content blocks of a result, with images and the names of saved files. If there are no blocks, formats the
 * structured content as JSON.
 */
export function display(
  blocks: readonly ResultBlock[],
  { structuredContent }: Pick<CallResult, "structuredContent">,
  options: DisplayOptions = {},
): SafeText {
  if (blocks.length === 0) return toSafeText(plainDisplay(blocks, structuredContent));
  return joinSafe(blocks.map((block) => displayBlock(block, options)));
}

function displayBlock(block: ResultBlock, { paths, draw }: DisplayOptions): SafeText {
  const words = toSafeText(withoutLineEnd(blockText(block)));
  const path = paths?.get(block);
  const told = path === undefined ? words : safe`${words} saved as ${toSafeLine(path)}`;
  const media = mediaOf(block);
  const picture = media && draw?.(media);
  return picture === undefined ? told : safe`${picture}\n${told}`;
}

type PromptResult = Awaited<ReturnType<Host["getPrompt"]>>;
type Message = PromptResult["messages"][number];

interface PromptReport {
  readonly server: string;
  /** The prompt's name as the server lists it. */
  readonly prompt: string;
  readonly result: PromptResult;
  /** The folder for images and audio. Undefined if they are not saved. */
  readonly folder: string | undefined;
  readonly draw: DrawImage | undefined;
}

/** Prints the result of `prompts/get`: messages with their roles, or one JSON document. */
export async function reportPrompt(report: PromptReport, { out, globals }: Context): Promise<void> {
  const { server, prompt, result, folder, draw } = report;
  const { description, messages, notes } = result;
  const blocks = messages.map(({ content }) => content);
  const { paths, warnings: unsaved } =
    folder === undefined ? nothingSaved : await saveMedia(blocks, folder, `${server}.${prompt}`);
  const warnings = [...notes, ...unsaved];
  const flags = flagsOfResult(blocks);
  if (globals.json)
    out.json({
      server,
      prompt,
      description,
      messages: messages.map(({ role, content }) => ({ role, content: contentDocument([content])[0] })),
      saved: unlessEmpty([...paths.values()]),
      warnings: unlessEmpty(warnings),
      flags: unlessEmpty(flags),
    });
  else if (messages.length === 0) out.say(safe`${toSafeLine(prompt)} of "${toSafeLine(server)}" has no messages`);
  else {
    const texts = messages.map((message) => messageText(message, { paths, draw }));
    out.print(joinSafe(texts, safe`\n\n`));
  }
  for (const warning of warnings) out.warn(safe`warning: ${toSafeLine(warning)}`);
  for (const flag of flags) out.warn(safe`flag: ${toVisibleLine(flagWords(flag))}`);
}

/** Formats one message. The server's text is indented, so that none of its lines looks like a role. */
function messageText({ role, content }: Message, options: DisplayOptions): SafeText {
  const text = display([content], {}, options);
  const source = content.type === "resource" ? [safe`[resource ${toVisibleLine(content.resource.uri)}]`] : [];
  const lines = [...source, ...splitSafe(text)];
  return joinSafe([safe`${toSafeLine(role)}:`, ...lines.map((line) => (line === "" ? line : safe`  ${line}`))]);
}

type Reading = Awaited<ReturnType<Host["readResource"]>>;
type Contents = Reading["contents"][number];

interface ResourceReport {
  readonly address: ResourceAddress;
  readonly result: Reading;
  /** Where to save the contents. Undefined if they are printed. */
  readonly destination: SavePlace | undefined;
  readonly draw: DrawImage | undefined;
}

/** Prints the contents of a resource as text or as one JSON document, or saves them in files. */
export async function reportReading(
  { address, result, destination, draw }: ResourceReport,
  context: Context,
): Promise<void> {
  const { out, globals } = context;
  const { contents, notes } = result;
  const blocks = destination === undefined ? contents.map(toBlock) : contents.map(toFile);
  const { paths } = destination === undefined ? nothingSaved : await saveAll(blocks, destination, nameOf(address));
  const flags = flagsOfResult(contents);
  if (globals.json)
    out.json({
      ...address,
      contents,
      saved: unlessEmpty([...paths.values()]),
      warnings: unlessEmpty(notes),
      flags: unlessEmpty(flags),
    });
  else if (blocks.length > 0) out.print(textOf(contents, blocks, { paths, draw }, context));
  else out.say(safe`${toSafeLine(address.uri)} is empty`);
  for (const note of notes) out.warn(safe`warning: ${toSafeLine(note)}`);
  for (const flag of flags) out.warn(safe`flag: ${toVisibleLine(flagWords(flag))}`);
  if (destination === undefined && !globals.json && blocks.some(mediaOf))
    out.say(safe`next: add --save . to save the contents in a file`);
}

function toBlock(resource: Contents): ResultBlock {
  return { type: "resource", resource };
}

/** Converts a resource's text or binary data to a block with base64 data, which can be saved as a file. */
function toFile({ uri, text, blob, mimeType }: Contents): ResultBlock {
  const type = mimeType ?? (text === undefined ? "application/octet-stream" : "text/plain");
  const bytes = blob ?? Buffer.from(text ?? "").toString("base64");
  return toBlock({ uri, mimeType: type, blob: bytes });
}

/** Returns the contents of a resource as text. If the resource has several parts, puts a part's URI above each part. */
function textOf(
  contents: readonly Contents[],
  blocks: readonly ResultBlock[],
  options: DisplayOptions,
  { out: { style } }: Context,
): SafeText {
  if (blocks.length === 1) return display(blocks, {}, options);
  const parts = blocks.map((block, at) => {
    const title = style.bold(toVisibleLine(contents[at]?.uri ?? ""));
    return safe`${title}\n${display([block], {}, options)}`;
  });
  return joinSafe(parts, safe`\n\n`);
}

/** Returns the text from which the names of saved files are made. */
function nameOf({ server, uri }: ResourceAddress): string {
  return uri.startsWith(`${server}:`) ? uri : `${server}:${uri}`;
}
