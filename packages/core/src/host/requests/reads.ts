/**
 * Runs a host's requests other than tool calls: resources, prompts, completion, subscriptions, and `@` references in a
 * message.
 */

import type { ResourceResult } from "@fairlead/wire";
import type { Clock } from "../../clock.ts";
import type { Emitter } from "../../events.ts";
import { toAbortSignal } from "../../mcp/unless-aborted.ts";
import type { Keep } from "../../normalise/content/parts.ts";
import type { Subscriptions } from "../../resources/subscriptions.ts";
import type { TurnHost } from "../../turn/turn-host.ts";
import type { Catalogs } from "../catalogs/catalogs.ts";
import { type OpenWork, once } from "../open-work.ts";
import type { LiveConfiguration } from "../servers/live-configuration.ts";
import type { HostServers } from "../servers/servers.ts";
import type { Host, RequestOptions } from "../types.ts";
import { confirmTyped } from "./confirm-typed.ts";
import { createReadSteps, type Read, shownRead } from "./read-steps.ts";
import type { Spine } from "./spine.ts";

/** The parts of the host that reads use. */
export interface HostReadsOptions extends Emitter {
  readonly configuration: LiveConfiguration;
  readonly servers: Pick<HostServers, "ready" | "use" | "client">;
  readonly catalogs: Pick<Catalogs, "resources" | "catalogOf">;
  readonly spine: Spine;
  readonly work: OpenWork;
  readonly keep: Keep;
  readonly clock: Clock;
}

/** The members of a host that read resources and prompts. */
export interface HostReads
  extends Pick<Host, "readResource" | "getPrompt" | "complete" | "subscribe" | "expandReferences"> {
  readonly readForModel: TurnHost["readResource"];
  close(): Promise<void>;
}

/** Creates the reads of a host. */
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

  const { steps, readyWithin } = createReadSteps({ configuration, ready, use, clock });

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
      shown: shownRead(serverName, uri),
      ask: (connected, how) => connected.readResource(uri, how),
    };
  }

  const readResource: Host["readResource"] = (serverName, uri, given = {}) => typed(resource(serverName, uri), given);

  return {
    readResource,

    readForModel: (serverName, uri, { signal, ask: confirm, onAllowed }) =>
      spine.run({ who: "model", signal, confirm, onAllowed, ...steps(resource(serverName, uri), {}) }),

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

    subscribe: (serverName, uri, { signal: given, client: by, confirm } = {}) =>
      spine.run({
        who: by === undefined ? "user" : "client",
        client: by?.name,
        conversation: by?.conversation,
        confirm,
        ...resource(serverName, uri).request,
        shown: resource(serverName, uri).shown,
        signal: given,
        execute: async (signal) => (await subscriptions()).subscribe(serverName, uri, toAbortSignal(signal)),
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
        // Connects the servers that the text names. Errors are ignored here: reading the resource reports them.
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
        /*
         * The URI may belong to a server whose catalog was not read yet. So Fairlead connects these servers and
         * searches again.
         */
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
