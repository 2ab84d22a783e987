/** Everything of a host but calls: resources, prompts, their completion, and what a person refers to in what they type. */

import { type Clock, sleep } from "../clock.ts";
import { HostError } from "../errors.ts";
import type { Emitter } from "../events.ts";
import type { McpClient } from "../mcp/client.ts";
import type { LeftOut } from "../normalise/content/parts.ts";
import type { ResourceRegistry } from "../registry/resource-registry.ts";
import type { Subscriptions } from "../resources/subscriptions.ts";
import type { TurnHost } from "../turn/turn-host.ts";
import type { Gate } from "./gate.ts";
import { once } from "./once.ts";
import type { Host, RequestOptions } from "./types.ts";

export interface ReadingOptions extends Emitter {
  readonly gate: Gate;
  readonly ready: (server: string, signal?: AbortSignal) => Promise<McpClient>;
  readonly client: (server: string) => McpClient | undefined;
  /** Keeps the server from being stopped until the returned function is called. */
  readonly use: (server: string) => () => void;
  readonly timeoutOf: (server: string) => number;
  readonly total: () => number;
  readonly resources: () => ResourceRegistry;
  readonly servers: () => readonly string[];
  /** Something is known of what it offers. */
  readonly isKnown: (server: string) => boolean;
  /** Where files may be referred to; none: no files. */
  readonly workspace: () => string | undefined;
  readonly keep: (file: LeftOut) => Promise<string>;
  readonly clock: Clock;
}

export interface Reading
  extends Pick<Host, "readResource" | "getPrompt" | "complete" | "subscribe" | "expandReferences"> {
  readonly readForModel: TurnHost["readResource"];
  close(): Promise<void>;
}

export function createReading(options: ReadingOptions): Reading {
  const { gate, ready, client, use, timeoutOf, total, resources, servers, isKnown, workspace, keep, clock, on, emit } =
    options;
  let made: Promise<Subscriptions> | undefined;
  const subscriptions = once(() => {
    made = import("../resources/subscriptions.ts").then(({ createSubscriptions }) =>
      createSubscriptions({ ready, client, use, on, emit, clock }),
    );
    return made;
  });

  /** Whoever takes longer may still come; it is not waited for here. */
  async function readyWithin(server: string, wait: number | undefined, signal?: AbortSignal): Promise<McpClient> {
    if (wait === undefined) return ready(server, signal);
    const enough = new AbortController();
    const late = sleep(clock, wait, enough.signal).then(() => {
      throw new HostError("connect_timeout", `"${server}" has not come within ${wait / 1000} s`, {
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

  /** One request to one server, which is connected first if need be. */
  async function ask<T>(
    server: string,
    { signal, timeout = timeoutOf(server), wait }: RequestOptions,
    request: (client: McpClient, how: { signal?: AbortSignal; timeout: number; total: number }) => Promise<T>,
  ): Promise<T> {
    const release = use(server);
    try {
      return await request(await readyWithin(server, wait, signal), {
        ...(signal && { signal }),
        timeout,
        total: total(),
      });
    } finally {
      release();
    }
  }

  const readResource: Host["readResource"] = (serverName, uri, given = {}) =>
    gate.typed({ serverName, serverToolName: uri, kind: "resource", confirmed: given.confirmed }, () =>
      ask(serverName, given, (connected, how) => connected.readResource(uri, how)),
    );

  return {
    readResource,

    readForModel: (serverName, uri, { signal, ask: askPerson }) =>
      gate.read({ serverName, uri }, askPerson, () =>
        ask(serverName, { signal }, (connected, how) => connected.readResource(uri, how)),
      ),

    getPrompt(serverName, prompt, args = {}, given = {}) {
      const request = { serverName, serverToolName: prompt, kind: "prompt", args, confirmed: given.confirmed } as const;
      return gate.typed(request, () =>
        ask(serverName, given, async (connected, how) => {
          await gate.recheck(request);
          return connected.getPrompt(prompt, args, how);
        }),
      );
    },

    async complete(request, { signal } = {}) {
      const { completeArgument } = await import("../resources/completion.ts");
      const release = use(request.of.server);
      return completeArgument(request, { ready, ...(signal && { signal }) }).finally(release);
    },

    async subscribe(serverName, uri, { signal } = {}) {
      return gate.typed({ serverName, serverToolName: uri, kind: "resource" }, async () =>
        (await subscriptions()).subscribe(serverName, uri, signal),
      );
    },

    async expandReferences(typed, { signal, wait, servers: chosen = servers() } = {}) {
      const [{ resolveReferences, serversNamedIn }, { readReferences }, { createFileFinder }, { chosenResources }] =
        await Promise.all([
          import("../resources/references.ts"),
          import("../resources/read-references.ts"),
          import("../resources/local-file.ts"),
          import("../resources/chosen-resources.ts"),
        ]);
      // Whoever is named is asked first what it has; why one cannot be is said where it is referred to.
      const unknown = serversNamedIn(typed, chosen).filter((server) => !isKnown(server));
      await Promise.allSettled(unknown.map((server) => readyWithin(server, wait, signal)));
      const folder = workspace();
      const source = {
        servers: chosen,
        resources: chosenResources(chosen, resources()),
        ...(folder !== undefined && { findFile: createFileFinder(folder) }),
      };
      let pieces = await resolveReferences(typed, source);
      // A URI may be anyone's: before nobody has it, those are asked of whom nothing is known.
      const strangers = chosen.filter((server) => !isKnown(server));
      if (strangers.length > 0 && pieces.some(({ kind, text }) => kind === "unresolved" && text.includes("://"))) {
        await Promise.allSettled(strangers.map((server) => readyWithin(server, wait, signal)));
        pieces = await resolveReferences(typed, source);
      }
      return readReferences(pieces, {
        readResource: (server, uri, until) => readResource(server, uri, { wait, ...(until && { signal: until }) }),
        keep,
        ...(signal && { signal }),
      });
    },

    async close() {
      (await made)?.[Symbol.dispose]();
    },
  };
}
