/** Applies one total time limit to several requests, one after the other (for example a request and its retry). */

import type { McpRequestOptions } from "../session.ts";
import { timeoutError } from "./rpc-errors.ts";

/**
 * Returns the options for the next request. Their `total` is the time that is left.
 *
 * @param spent Milliseconds that the earlier requests took.
 * @throws WireError `timeout` if no time is left.
 */
export function withTimeLeft(options: McpRequestOptions, spent: number, step: string): McpRequestOptions {
  if (options.total === undefined) return options;
  const total = options.total - spent;
  if (total <= 0) throw timeoutError(step, undefined);
  return { ...options, total };
}
