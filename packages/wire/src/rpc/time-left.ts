/** Divides one total time limit among the requests that a single call may need. */

import type { McpRequestOptions } from "../session.ts";
import { timeoutError } from "./rpc-errors.ts";

/**
 * Returns the options for the next request, with the remaining time.
 *
 * @throws WireError `timeout` if the total limit is used up.
 */
export function withTimeLeft(options: McpRequestOptions, spent: number, step: string): McpRequestOptions {
  if (options.total === undefined) return options;
  const total = options.total - spent;
  if (total <= 0) throw timeoutError(step, undefined);
  return { ...options, total };
}
