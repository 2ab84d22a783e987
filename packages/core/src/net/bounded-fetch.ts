/** A `fetch` for what is asked of the network beside the wire: bounded in time and size, and kept away from addresses that are nobody's business. */

import { parseUrl } from "@fairlead/wire/text";
import { systemClock } from "../clock.ts";
import { HostError } from "../errors.ts";
import type { FetchOptions } from "./fetch-options.ts";
import { createServerNetwork } from "./server-network.ts";

export type { FetchOptions } from "./fetch-options.ts";

/** As the standard has it, so that libraries take it for theirs; what it rejects with is always a `HostError`. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

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
      // Whatever broke then broke because of that.
      if (callers.some(({ aborted }) => aborted)) throw new HostError("cancelled", "cancelled", { cause });
      if (late.signal.aborted)
        throw new HostError("connect_timeout", `${url.origin} did not answer in ${timeout} ms`, { cause });
      throw cause;
    } finally {
      callOff();
    }
  };
}
