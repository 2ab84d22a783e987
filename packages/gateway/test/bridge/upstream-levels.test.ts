import type { ForwardOptions } from "@fairlead/core/host/gateway-types";
import type { Host } from "@fairlead/core/host/types";
import { expect, test } from "vitest";
import { createUpstreamLevels } from "../../src/bridge/upstream-levels.ts";

test("a server that does not answer to a log level is asked again only if the request was cancelled", async () => {
  const given: ForwardOptions[] = [];
  const host = {
    states: () => [{ name: "one", status: "connected", since: 1, peer: { era: "legacy" } }],
    serverFacts: () => ({ capabilities: { logging: {} } }),
    forward: (_request: unknown, options: ForwardOptions) => {
      given.push(options);
      return new Promise((_, reject) => {
        options.signal?.addEventListener("abort", () => reject(new Error("cancelled")));
      });
    },
  } as unknown as Host;
  const levels = createUpstreamLevels();
  const client = { name: "tester", conversation: "1" };
  const cancelled = new AbortController();
  const apply = (signal: AbortSignal): void => levels.apply(host, "one", client, { logLevel: "info", signal });
  apply(cancelled.signal);
  apply(cancelled.signal);
  expect(given).toHaveLength(1);
  expect(given[0]?.timeout).toBeGreaterThan(0);
  cancelled.abort();
  await new Promise(setImmediate);
  apply(new AbortController().signal);
  expect(given).toHaveLength(2);
});
