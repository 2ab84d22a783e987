/** Options of a bounded fetch. */

import type { LookupFunction } from "node:net";
import type { Clock } from "../clock.ts";
import type { Environment } from "../settings/read/paths.ts";
import type { ServerNetwork } from "./server-network.ts";

export interface FetchOptions {
  /** The MCP server or its URL. Private addresses are allowed only if that server is in the same network. */
  readonly near?: string | ServerNetwork | undefined;
  /** The environment, for the proxy variables. */
  readonly env: Environment["env"];
  /** Certificate authorities in PEM format, in addition to Node's. */
  readonly ca?: string;
  /** The largest response in bytes, decompressed. */
  readonly maxBytes?: number;
  /** The limit in milliseconds for the whole request, with name lookups and redirects. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
  /** How many redirects are followed; with 0 a redirect is an error. */
  readonly maxRedirects?: number;
  readonly resolve?: LookupFunction;
  readonly clock?: Clock;
}
