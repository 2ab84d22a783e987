/** The servers of a configuration as a host manages them: each with a client that knows how to reach it, or with the state that says why it may not start. */

import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import type { Clock } from "../clock.ts";
import type { ConnectContext } from "../connect/open-session.ts";
import { isLaunched } from "../connect/patience.ts";
import { demoName } from "../demo/name.ts";
import type { Remembered } from "../discover/remembered.ts";
import type { ServerNews, ServerState } from "../events.ts";
import { McpClient, type McpClientOptions } from "../mcp/client.ts";
import type { ManagedServer } from "../mcp/client-manager.ts";
import { type Answerers, answerRequests } from "../mcp/requests.ts";
import { initialState } from "../mcp/server-state.ts";
import type { ServerDefinition } from "../settings/definition.ts";
import { admitBuiltIn } from "../trust/admit.ts";
import type { AdmittedServer, Configuration } from "../trust/configuration.ts";
import type { HostMemory } from "./memory.ts";
import type { OpenHostOptions } from "./types.ts";

export { demoName } from "../demo/name.ts";

export interface HostServersOptions extends Pick<OpenHostOptions, "observe" | "elicit" | "sample" | "onUnaskable"> {
  readonly context: () => Promise<ConnectContext>;
  readonly memory: HostMemory;
  /** Before the server is heard. */
  readonly meet: (server: string) => Promise<void>;
  /** What an earlier run knew of a server that is about to be connected. */
  readonly onRemembered: (server: string, remembered: Remembered) => void;
  readonly onState: (state: ServerState) => void;
  readonly onNews: (news: ServerNews) => void;
  readonly clock: Clock;
}

export interface HostServers {
  readonly managed: readonly ManagedServer[];
  /** Of those that may start. */
  readonly definitions: ReadonlyMap<string, ServerDefinition>;
  /** In the order of the settings, the demo server last. */
  readonly order: readonly string[];
  /** The demo server is there, under its own name. */
  readonly hasDemo: boolean;
  /** Nothing else is configured. */
  readonly isAlone: boolean;
}

/** How often a server may ask the person or the model. */
const questionsPerMinute = 5;

export function toHostServers(configuration: Configuration, options: HostServersOptions): HostServers {
  const { context, memory, observe, meet, onRemembered, onState, onNews, clock } = options;
  const { connectTimeout } = configuration.settings.host;
  const configured = configuration.servers.filter((entry) => !isPlantedDemo(entry));
  const definitions = new Map<string, ServerDefinition>();

  function createClient(how: Pick<McpClientOptions, "definition" | "open" | "connectTimeout">): McpClient {
    const { name } = how.definition;
    return new McpClient({ ...how, clock, onState, onNews, observe: (step) => observe?.(name, step) });
  }

  function toManaged({ server, admission }: AdmittedServer): ManagedServer {
    const { name, definition } = server;
    if (admission.status !== "admitted" || definition === undefined)
      return { state: initialState(name, admission, clock.now()) };
    definitions.set(name, definition);
    const answering = answerRequests(name, answerersFor(definition, configuration, options), {
      perMinute: questionsPerMinute,
      clock,
    });
    const client = createClient({
      definition,
      connectTimeout,
      async open(opening) {
        const [{ openSession }, era, remembered] = await Promise.all([
          import("../connect/open-session.ts"),
          memory.verdict(definition),
          memory.recall(definition),
          meet(name),
        ]);
        const isFirstRun = remembered === undefined;
        if (remembered) onRemembered(name, remembered);
        if (isFirstRun && isLaunched(definition.resolved ?? definition.transport))
          onNews({ type: "fetching", server: name });
        return openSession(definition, await context(), {
          ...opening,
          isFirstRun,
          onStderrLine: (line) => onNews({ type: "stderr", server: name, line }),
          ...(era && { era }),
          ...(answering && { answering }),
          ...(observe && { observe: (step) => observe(name, step) }),
        });
      },
    });
    return {
      client,
      fingerprint: identityOf(definition, configuration),
      isLazy: definition.extras.start === "lazy",
      isProgram: definition.transport.kind === "stdio",
    };
  }

  function toDemo(isLazy: boolean): ManagedServer {
    const admission = admitBuiltIn(demoName, configuration.settings);
    if (admission.status !== "admitted") return { state: initialState(demoName, admission, clock.now()) };
    const open: McpClientOptions["open"] = async () => {
      const { createDemoSession } = await import("../demo/session.ts");
      return createDemoSession({ clock });
    };
    const client = createClient({ definition: { name: demoName, excludeTools: [] }, connectTimeout, open });
    return { client, fingerprint: demoName, isLazy };
  }

  const managed = configured.map(toManaged);
  const isAlone = managed.length === 0;
  const hasDemo = configured.every(({ server }) => server.name !== demoName);
  return {
    managed: hasDemo ? [...managed, toDemo(!isAlone)] : managed,
    definitions,
    order: [...configured.map(({ server }) => server.name), ...(hasDemo ? [demoName] : [])],
    hasDemo,
    isAlone,
  };
}

/** What makes it another server: its entry, what its variables stand for, and what it may know and ask. In memory only. */
function identityOf({ fingerprint, values, extras }: ServerDefinition, { trust, locations }: Configuration): string {
  return JSON.stringify([fingerprint, [...values], extras.sampling, trust.trusted, locations.root]);
}

/** A server of the user's own does not learn about a folder that is not trusted. */
function answerersFor(
  { extras }: ServerDefinition,
  { trust, locations }: Configuration,
  { elicit, sample, onUnaskable }: Pick<HostServersOptions, "elicit" | "sample" | "onUnaskable">,
): Answerers {
  const root = { uri: pathToFileURL(locations.root).href, name: basename(locations.root) };
  return {
    ...(trust.trusted && { roots: [root] }),
    ...(elicit && { elicit }),
    ...(onUnaskable && { onUnaskable }),
    ...(sample && extras.sampling && { sample }),
  };
}

/** A folder that is not trusted must not be able to take the demo server away. */
function isPlantedDemo({ server, admission }: AdmittedServer): boolean {
  return server.name === demoName && admission.status === "blocked" && admission.reason === "untrusted_folder";
}
