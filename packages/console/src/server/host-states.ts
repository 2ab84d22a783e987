/** Shows the states of a host's servers, and nothing else. */

import { HostError } from "@fairlead/core/errors";
import type { OpenedHost } from "@fairlead/core/host";
import type { ConsoleEvent, Snapshot } from "../protocol/events.ts";
import type { ServerRow } from "../protocol/rows.ts";
import type { ConsoleSource } from "./console-source.ts";

export function hostStates(host: OpenedHost, version: string): ConsoleSource {
  const rows = (): ServerRow[] =>
    host.states().map(({ name, status }) => ({
      name,
      status,
      transport: "stdio",
      scope: "",
      isCached: false,
      calls: 0,
      changed: 0,
    }));
  return {
    async snapshot(): Promise<Snapshot> {
      const { root } = host.configuration.locations;
      const workspace = { root, isTrusted: true, why: "" };
      return { version, now: Date.now(), workspace, servers: rows(), questions: [], calls: [], problems: [] };
    },
    async run(verb) {
      throw new HostError("usage", `${verb} is not a command`);
    },
    onEvent(listener: (event: ConsoleEvent) => void) {
      return host.on("state", ({ state }) => {
        const server = rows().find(({ name }) => name === state.name);
        if (server !== undefined) listener({ type: "server", server });
      });
    },
    async [Symbol.asyncDispose]() {},
  };
}
