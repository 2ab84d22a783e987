/** What is left of a request's absolute limit when one request of the caller's becomes several on the wire. */

import type { McpRequestOptions } from "../session.ts";
import { timeoutError } from "./rpc-errors.ts";

/** The options of the next one; throws when there is no time left for it. */
export function withTimeLeft(options: McpRequestOptions, spent: number, step: string): McpRequestOptions {
  if (options.total === undefined) return options;
  const total = options.total - spent;
  if (total <= 0) throw timeoutError(step, undefined);
  return { ...options, total };
}
