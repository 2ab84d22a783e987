/**
 * A `fetch` for sign-in and access tokens. It limits time and size, and refuses private addresses unless the MCP server
 * is in the same network.
 */

import { parseUrl } from "@fairlead/wire/text";
import { systemClock } from "../clock.ts";
import { HostError } from "../errors.ts";
import type { FetchOptions } from "./fetch-within.ts";
import { createServerNetwork } from "./server-network.ts";

export type { FetchOptions } from "./fetch-within.ts";

/** Like the standard `fetch`, but rejects only with a `HostError`. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Creates the `fetch`. Its default timeout is 10 s. */
export function createBoundedFetch(options: FetchOptions): Fetch {
  const { timeout = 10_000, clock = systemClock, resolve, near: given } = options;
  const near = typeof given === "string" ? createServerNetwork(given, { resolve }) : given;
  return async (address, init = {}) => {
    if (parseUrl(String(address)) === undefined) throw new HostError("denied", "the URL to fetch is invalid");
    const url = new URL(address);
    const late = new AbortController();
    const callOff = clock.after(timeout, () => late.abort());
    const callers = [options.signal, init.signal].filter((signal) => signal instanceof AbortSignal);
    try {
      const { fetchWithin } = await import("./fetch-within.ts");
      return await fetchWithin(url, init, { ...options, near }, AbortSignal.any([...callers, late.signal]));
    } catch (cause) {
      // Checks the signals and not the error, because an aborted request can fail with any error.
      if (callers.some(({ aborted }) => aborted)) throw new HostError("cancelled", "cancelled", { cause });
      if (late.signal.aborted)
        throw new HostError("connect_timeout", `${url.origin} timed out: no response within ${timeout} ms`, { cause });
      throw cause;
    } finally {
      callOff();
    }
  };
}
