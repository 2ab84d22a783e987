/**
 * The steps of a read (a resource or prompt): connect the server, send the request, and repeat it once if the
 * connection is lost.
 */

import { type Clock, sleep } from "../../clock.ts";
import { HostError } from "../../errors.ts";
import { type ReadTimes, sendRead } from "../../execute/send-read.ts";
import type { ServerClient } from "../../mcp/client.ts";
import { toAbortSignal } from "../../mcp/unless-aborted.ts";
import type { PolicyRequest } from "../../policy/decide.ts";
import type { AskedTool } from "../../registry/confirmation.ts";
import { canonicalJson } from "../../text/canonical-json.ts";
import type { LiveConfiguration } from "../servers/live-configuration.ts";
import type { HostServers } from "../servers/servers.ts";
import type { RequestOptions } from "../types.ts";
import type { HostRequest } from "./host-request.ts";

/** A request that only reads, and the function that sends it. */
export interface Read<T> {
  readonly request: Omit<PolicyRequest, "who">;
  readonly shown: AskedTool;
  readonly ask: (client: ServerClient, how: ReadTimes) => Promise<T>;
}

/** The parts of the host that reads use. */
export interface ReadStepsOptions extends Pick<HostServers, "ready" | "use"> {
  readonly configuration: LiveConfiguration;
  readonly clock: Clock;
}

/** Provides the steps of a read. */
export interface ReadSteps {
  /** The steps of a request for `spine.ts`: connect the server if needed, then send the request. */
  readonly steps: <T>(
    read: Read<T>,
    options: Pick<RequestOptions, "wait"> & { readonly timeout?: number | undefined },
  ) => Omit<HostRequest<T, T>, "who">;
  /**
   * Waits at most `wait` milliseconds until the server is connected. After that, the server continues to connect in the
   * background.
   */
  readonly readyWithin: (server: string, wait: number | undefined, signal?: AbortSignal) => Promise<ServerClient>;
}

/** A resource read as the confirmation shows it. */
export function shownRead(serverName: string, uri: string): AskedTool {
  return { serverName, serverToolName: uri, name: "read_resource", description: "Reads a resource of the server." };
}

/** Creates the steps for the reads of a host. */
export function createReadSteps({ configuration, ready, use, clock }: ReadStepsOptions): ReadSteps {
  async function readyWithin(server: string, wait: number | undefined, signal?: AbortSignal): Promise<ServerClient> {
    if (wait === undefined) return ready(server, signal);
    const enough = new AbortController();
    const late = sleep(clock, wait, enough.signal).then(() => {
      throw new HostError("connect_timeout", `"${server}" is not connected after ${wait / 1000} s`, {
        serverName: server,
      });
    });
    try {
      return await Promise.race([ready(server, signal), late]);
    } finally {
      late.catch(() => undefined);
      enough.abort();
    }
  }

  /**
   * Identifies what the user allowed. It changes with the server's definition. For a prompt, it also changes with the
   * prompt's definition and the server's instructions.
   */
  function subjectOf({ serverName, serverToolName, kind }: Read<unknown>["request"], connected: ServerClient): string {
    const { prompts = [], instructions } = connected.filteredCatalog?.catalog ?? {};
    const prompt = kind === "prompt" && [prompts.find(({ name }) => name === serverToolName), instructions];
    return canonicalJson([configuration.definition(serverName)?.fingerprint, prompt]);
  }

  return {
    readyWithin,
    steps({ request, shown, ask }, { timeout, wait }) {
      const { serverName } = request;
      let connected: ServerClient | undefined;
      let subject: string | undefined;
      return {
        ...request,
        shown,
        hold: () => use(serverName),
        async connect(signal) {
          connected = await readyWithin(serverName, wait, toAbortSignal(signal));
          if (request.kind === "prompt") await connected.upToDate("prompts");
          subject = subjectOf(request, connected);
        },
        async execute(given) {
          const signal = toAbortSignal(given);
          connected ??= await ready(serverName, signal);
          const total = configuration.current().settings.host.limits.callTotal;
          const times = { signal, timeout: timeout ?? configuration.timeoutOf(serverName), total };
          return sendRead(connected, ask, times, {
            reconnect: (until) => ready(serverName, until),
            isStill: (next) => subjectOf(request, next) === subject,
            clock,
          });
        },
        present: (result) => result,
      };
    },
  };
}
