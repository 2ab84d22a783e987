/**
 * Converts a tool's result to parts for a model. The parts are readable, fit the size limits, and mark the result as
 * untrusted.
 */

import type { Block } from "@fairlead/wire";
import type { Part } from "../model-types.ts";
import { type ContentLimits, contentLimits, type Fitted, fitBlocks, type LeftOut } from "./fit.ts";
import { toJson } from "./json-text.ts";
import { toLabel } from "./shorten.ts";
import { asUntrusted, createNonce } from "./untrusted.ts";

export type { ContentLimits, LeftOut } from "./fit.ts";

/** Options for converting a tool's result. */
export interface ContentOptions {
  readonly limits?: Partial<ContentLimits>;
  /** The random part of the tags that mark the result as untrusted. Default: a new one for each result. */
  readonly nonce?: string;
}

/** The file in which Fairlead saved a text or media file that the model does not get in full. */
export interface KeptFile {
  readonly path: string;
  /** The model can read the file by this handle: `result://ID`. */
  readonly handle?: string;
}

/** Saves a text or media file that the model does not get in full. */
export type Keep = (file: LeftOut) => Promise<KeptFile>;

/** The result besides its blocks, the tool's name, and the function that saves what does not fit. */
export interface ModelPartsOptions extends ContentOptions {
  readonly toolName: string;
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly keep?: Keep;
}

/** Converts blocks to parts. If `keep` is given, saves what was left out and adds the paths. */
export async function toModelParts(blocks: readonly Block[], options: ModelPartsOptions): Promise<Part[]> {
  const { toolName, keep, nonce = createNonce() } = options;
  const fitted = fitResult({ isError: false, ...options, content: blocks }, toolName, options);
  const parts = toParts([fitted], nonce);
  return keep === undefined ? parts : [...parts, ...(await keepAll(fitted.leftOut, keep))];
}

/** A result that fits the limits. */
export interface FittedResult extends Fitted {
  readonly isError: boolean;
}

/** Fits a result into the limits. */
export function fitResult(
  { content, structuredContent, isError }: ContentResult,
  toolName: string,
  { limits }: ContentOptions,
): FittedResult {
  const isAlone = content.length === 0 && structuredContent !== undefined;
  const blocks: readonly Block[] = isAlone ? [{ type: "text", text: toJson(structuredContent) }] : content;
  return { ...fitBlocks(blocks, `Tool '${toLabel(toolName)}'`, { ...contentLimits, ...limits }), isError };
}

/**
 * Converts results to parts. One pair of tags around all contents marks them as untrusted. Only the notes about an
 * error and about missing content have no tags.
 */
export function toParts(results: readonly FittedResult[], nonce: string): Part[] {
  const parts = results.flatMap((result) => result.parts);
  return [
    ...(results.some(({ isError }) => isError) ? [{ text: "[The tool reported an error.]" }] : []),
    ...(parts.length === 0 ? [{ text: "[The tool returned no content.]" }] : asUntrusted(parts, nonce)),
  ];
}

/**
 * Saves everything that the model does not get in full, and returns a list of the paths. If one file cannot be saved,
 * the others still are.
 */
export async function keepAll(files: readonly LeftOut[], keep: Keep): Promise<Part[]> {
  if (files.length === 0) return [];
  const lines: string[] = [];
  for (const file of files) {
    const location = await keep(file).then(
      ({ path, handle }) => (handle === undefined ? `whole in ${path}` : `whole in ${handle} (see read_result)`),
      () => "could not be saved",
    );
    lines.push(`- ${file.what}, ${location}`);
  }
  return [{ text: `[Left out above:\n${lines.join("\n")}]` }];
}

/** The members of a result that become parts. */
export interface ContentResult {
  readonly content: readonly Block[];
  readonly structuredContent?: unknown;
  readonly isError: boolean;
}
