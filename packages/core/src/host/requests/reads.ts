/**
 * Requests of a host other than tool calls: resources, prompts, completion, subscriptions, and `@` references in typed
 * text.
 */

import type { ResourceResult } from "@fairlead/wire";
import { type Clock, sleep } from "../../clock.ts";
import { HostError } from "../../errors.ts";
import type { Emitter } from "../../events.ts";
import { type ReadTimes, sendRead } from "../../execute/send-read.ts";
import type { McpClient } from "../../mcp/client.ts";
import type { Keep } from "../../normalise/content/parts.ts";
import type { PolicyRequest } from "../../policy/decide.ts";
import type { AskedTool } from "../../registry/confirmation.ts";
import type { Subscriptions } from "../../resources/subscriptions.ts";
import { canonicalJson } from "../../text/canonical-json.ts";
import type { TurnHost } from "../../turn/turn-host.ts";
import type { Catalogs } from "../catalogs/catalogs.ts";
import { type OpenWork, once } from "../open-work.ts";
import type { LiveConfiguration } from "../servers/live-configuration.ts";
import type { HostServers } from "../servers/servers.ts";
import type { Host, RequestOptions } from "../types.ts";
import { confirmTyped } from "./confirm-typed.ts";
import type { Spine } from "./spine.ts";

export interface HostReadsOptions extends Emitter {
  readonly configuration: LiveConfiguration;
  readonly servers: Pick<HostServers, "ready" | "use" | "client">;
  readonly catalogs: Pick<Catalogs, "resources" | "catalogOf">;
  readonly spine: Spine;
  readonly work: OpenWork;
  readonly keep: Keep;
  readonly clock: Clock;
}

export interface HostReads
  extends Pick<Host, "readResource" | "getPrompt" | "complete" | "subscribe" | "expandReferences"> {
  readonly readForModel: TurnHost["readResource"];
  close(): Promise<void>;
}

export function createHostReads(options: HostReadsOptions): HostReads {
  const { configuration, catalogs, spine, work, keep, clock, on, emit } = options;
  const { ready, use, client } = options.servers;
  let made: Promise<Subscriptions> | undefined;
  const subscriptions = once(() => {
    made = import("../../resources/subscriptions.ts").then(({ createSubscriptions }) =>
      createSubscriptions({ ready, client, use, on, emit, clock }),
    );
    return made;
  });

  /** Connects the server within `wait` milliseconds. A slower server goes on connecting in the background. */
  async function readyWithin(server: string, wait: number | undefined, signal?: AbortSignal): Promise<McpClient> {
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

  interface Read<T> {
    readonly request: Omit<PolicyRequest, "who">;
    readonly shown: AskedTool;
    readonly ask: (client: McpClient, how: ReadTimes) => Promise<T>;
  }

  /** Everything that a decision about the request depends on and that another connection may change. */
  function subjectOf({ serverName, serverToolName, kind }: Read<unknown>["request"], connected: McpClient): string {
    const { prompts = [], instructions } = connected.filteredCatalog?.catalog ?? {};
    const prompt = kind === "prompt" && [prompts.find(({ name }) => name === serverToolName), instructions];
    return canonicalJson([configuration.definition(serverName)?.fingerprint, prompt]);
  }

  /** The steps of one request: connects the server if needed, then sends. */
  function steps<T>({ request, shown, ask }: Read<T>, { timeout, wait }: RequestOptions) {
    const { serverName } = request;
    let connected: McpClient | undefined;
    let subject: string | undefined;
    return {
      ...request,
      shown,
      hold: () => use(serverName),
      async connect(signal: AbortSignal) {
        connected = await readyWithin(serverName, wait, signal);
        subject = subjectOf(request, connected);
      },
      async execute(signal: AbortSignal) {
        connected ??= await ready(serverName, signal);
        const total = configuration.current().settings.host.limits.callTotal;
        const times = { signal, timeout: timeout ?? configuration.timeoutOf(serverName), total };
        return sendRead(connected, ask, times, {
          reconnect: (until) => ready(serverName, until),
          isStill: (next) => subjectOf(request, next) === subject,
          clock,
        });
      },
      present: (result: T) => result,
    };
  }

  /** Runs a read that the user typed. */
  function typed<T>(read: Read<T>, given: RequestOptions): Promise<T> {
    const { signal, confirm, confirmed } = given;
    return spine.run({
      who: "user",
      signal,
      confirmed,
      confirm: confirm && confirmTyped(confirm),
      ...steps(read, given),
    });
  }

  function resource(serverName: string, uri: string): Read<ResourceResult> {
    return {
      request: { serverName, serverToolName: uri, kind: "resource" },
      shown: { serverName, serverToolName: uri, name: "read_resource", description: "Reads a resource of the server." },
      ask: (connected, how) => connected.readResource(uri, how),
    };
  }

  const readResource: Host["readResource"] = (serverName, uri, given = {}) => typed(resource(serverName, uri), given);

  return {
    readResource,

    readForModel: (serverName, uri, { signal, ask: confirm, onAllowed }) =>
      spine.run({ who: "model", signal, confirm, onAllowed, ...steps(resource(serverName, uri), { signal }) }),

    getPrompt: (serverName, prompt, args = {}, given = {}) =>
      typed(
        {
          request: { serverName, serverToolName: prompt, kind: "prompt", args },
          shown: { serverName, serverToolName: prompt, name: prompt, description: "" },
          ask: (connected, how) => connected.getPrompt(prompt, args, how),
        },
        given,
      ),

    complete: (request, { signal: given } = {}) =>
      work.run(async (signal) => {
        const { completeArgument } = await import("../../resources/completion.ts");
        const release = use(request.of.server);
        return completeArgument(request, { ready, signal }).finally(release);
      }, given),

    subscribe: (serverName, uri, { signal: given } = {}) =>
      spine.run({
        who: "user",
        ...resource(serverName, uri).request,
        shown: resource(serverName, uri).shown,
        signal: given,
        execute: async (signal) => (await subscriptions()).subscribe(serverName, uri, signal),
        present: (subscription) => subscription,
      }),

    expandReferences: (text, { signal: given, wait, servers: chosen = configuration.order() } = {}) =>
      work.run(async (signal) => {
        const isKnown = (server: string): boolean => catalogs.catalogOf(server) !== undefined;
        const [{ resolveReferences, serversNamedIn }, { readReferences }, { createFileFinder }, { chosenResources }] =
          await Promise.all([
            import("../../resources/references/references.ts"),
            import("../../resources/references/read-references.ts"),
            import("../../resources/references/local-file.ts"),
            import("../../resources/references/resource-reference.ts"),
          ]);
        // Connects the servers that the text names. If one cannot be connected, its reference reports why.
        const unknown = serversNamedIn(text, chosen).filter((server) => !isKnown(server));
        await Promise.allSettled(unknown.map((server) => readyWithin(server, wait, signal)));
        const { trust, locations } = configuration.current();
        const folder = trust.trusted ? locations.root : undefined;
        const source = {
          servers: chosen,
          resources: chosenResources(chosen, catalogs.resources),
          ...(folder !== undefined && { findFile: createFileFinder(folder) }),
        };
        let pieces = await resolveReferences(text, source);
        // Any server may have this URI, so servers without a catalog are connected before the URI counts as unknown.
        const strangers = chosen.filter((server) => !isKnown(server));
        if (strangers.length > 0 && pieces.some(({ kind, text }) => kind === "unresolved" && text.includes("://"))) {
          await Promise.allSettled(strangers.map((server) => readyWithin(server, wait, signal)));
          pieces = await resolveReferences(text, source);
        }
        return readReferences(pieces, {
          readResource: (server, uri, until) => readResource(server, uri, { wait, ...(until && { signal: until }) }),
          keep,
          signal,
        });
      }, given),

    async close() {
      (await made)?.[Symbol.dispose]();
    },
  };
}
