/** Converts a tool's result to parts for a model: readable, within size limits, marked as untrusted. */

import type { Block } from "@fairlead/wire";
import type { Part } from "../model-types.ts";
import { type ContentLimits, contentLimits, type Fitted, fitBlocks, type LeftOut } from "./fit.ts";
import { type Result, resultOf } from "./function-response.ts";
import { toJson } from "./json-text.ts";
import { toLabel } from "./shorten.ts";
import { asUntrusted, createNonce } from "./untrusted.ts";

export type { ContentLimits, LeftOut } from "./fit.ts";

/** Options of the conversion. */
export interface ContentOptions {
  readonly limits?: Partial<ContentLimits>;
  /** The random part of the tags around the result. Default: a new one for each. */
  readonly nonce?: string;
}

/** Saves a content to a file and returns its path. */
export type Keep = (file: LeftOut) => Promise<string>;

/** Options of `toModelParts`. */
export interface ModelPartsOptions extends ContentOptions {
  /** The server's own name of the tool. */
  readonly toolName: string;
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  /** Saves the contents that the model does not get in full. */
  readonly keep?: Keep;
}

/** Converts the blocks of a result to parts for a model. */
export async function toModelParts(blocks: readonly Block[], options: ModelPartsOptions): Promise<Part[]> {
  const { toolName, keep, nonce = createNonce() } = options;
  const fitted = fitResult({ isError: false, ...options, content: blocks }, toolName, options);
  const parts = toParts([fitted], nonce);
  return keep === undefined ? parts : [...parts, ...(await keepAll(fitted.leftOut, keep))];
}

/** Converts the parts of a `CallableTool`'s result, which have the MCP result in `functionResponse.response`. */
export function transformMcpContentToParts(
  sdkResponse: readonly Part[],
  options: ContentOptions & { readonly toolName?: string } = {},
): Part[] {
  const fitted = sdkResponse.map((part) => {
    const name = options.toolName ?? part.functionResponse?.name ?? "unknown";
    return fitResult(resultOf(part), name, options);
  });
  return toParts(fitted, options.nonce ?? createNonce());
}

interface FittedResult extends Fitted {
  readonly isError: boolean;
}

function fitResult(
  { content, structuredContent, isError }: Result,
  toolName: string,
  { limits }: ContentOptions,
): FittedResult {
  const isAlone = content.length === 0 && structuredContent !== undefined;
  const blocks: readonly Block[] = isAlone ? [{ type: "text", text: toJson(structuredContent) }] : content;
  return { ...fitBlocks(blocks, `Tool '${toLabel(toolName)}'`, { ...contentLimits, ...limits }), isError };
}

/** Fairlead's own texts are outside the tags. */
function toParts(results: readonly FittedResult[], nonce: string): Part[] {
  const parts = results.flatMap((result) => result.parts);
  return [
    ...(results.some(({ isError }) => isError) ? [{ text: "[The tool reported an error.]" }] : []),
    ...(parts.length === 0 ? [{ text: "[The tool returned no content.]" }] : asUntrusted(parts, nonce)),
  ];
}

/** Saves left-out contents and lists their paths. A failed save does not affect the others. */
export async function keepAll(files: readonly LeftOut[], keep: Keep): Promise<Part[]> {
  if (files.length === 0) return [];
  const lines: string[] = [];
  for (const file of files) {
    const place = await keep(file).then(
      (path) => `whole in ${path}`,
      () => "could not be saved",
    );
    lines.push(`- ${file.what}, ${place}`);
  }
  return [{ text: `[What was left out:\n${lines.join("\n")}]` }];
}
