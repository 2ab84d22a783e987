/** What a bounded fetch is told once, for all that it is going to ask. */

import type { LookupFunction } from "node:net";
import type { Clock } from "../clock.ts";
import type { Environment } from "../settings/read/paths.ts";
import type { ServerNetwork } from "./server-network.ts";

export interface FetchOptions {
  /** The MCP server, or its URL: addresses that are not public are asked only if that server is in the same place. */
  readonly near?: string | ServerNetwork | undefined;
  /** For proxies. */
  readonly env: Environment["env"];
  /** Extra certificate authorities, PEM. */
  readonly ca?: string;
  /** Of the answer, decompressed. */
  readonly maxBytes?: number;
  /** From the first question to the last byte, redirects and names included, in milliseconds. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
  /** With 0, a redirect is an error, also for a caller that would follow it by itself. */
  readonly maxRedirects?: number;
  readonly resolve?: LookupFunction;
  readonly clock?: Clock;
}
