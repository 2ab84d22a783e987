/** Creates the servers of a configuration. Each has a client, or a state that says why it is not allowed to start. */

import type { NegotiatedProtocol } from "@fairlead/wire";
import type { Clock } from "../../clock.ts";
import { isLaunched } from "../../connect/connect-timeout.ts";
import type { ConnectContext } from "../../connect/prepare-connection.ts";
import { demoName } from "../../demo/name.ts";
import { HostError } from "../../errors.ts";
import { Connection, type ConnectionOptions } from "../../server/connection.ts";
import { elicitationCapability } from "../../server/elicitation.ts";
import { type Answerers, type Answering, answerRequests } from "../../server/requests.ts";
import type { ManagedServer } from "../../server/server-manager.ts";
import { initialServerState } from "../../server/server-state.ts";
import type { ServerDefinition } from "../../settings/define/definition.ts";
import { admitBuiltIn, checkApprovedPrograms } from "../../trust/admit.ts";
import type { AdmittedServer, Configuration } from "../../trust/configuration.ts";
import type { Catalogs } from "../catalogs/catalogs.ts";
import type { DeclaredCapabilities, OpenHostOptions } from "../types.ts";
import type { LiveConfiguration } from "./live-configuration.ts";
import { mayHaveRoots, rootsFor } from "./roots.ts";

type Taken = "observe" | "elicit" | "sample" | "onUnaskable" | "declare" | "onQuestion" | "greeting" | "era" | "lazy";

/** The parts and options of the host that its servers use. */
export interface ManagedServersOptions extends Pick<OpenHostOptions, Taken> {
  readonly configuration: LiveConfiguration;
  readonly context: () => Promise<ConnectContext>;
  readonly catalogs: Pick<Catalogs, "beforeOpen" | "onState" | "onNews">;
  readonly clock: Clock;
}

/** How many requests (elicitation and sampling) a server may send in a minute. */
const questionsPerMinute = 5;

/** The servers of the current configuration. The demo server comes last. */
export function toManagedServers(options: ManagedServersOptions): readonly ManagedServer[] {
  const { configuration: live, context, catalogs, observe, clock } = options;
  const { onState, onNews } = catalogs;
  const configuration = live.current();
  const { connectTimeout } = configuration.settings.host;

  function createClient(how: Pick<ConnectionOptions, "definition" | "open" | "connectTimeout">): Connection {
    const { name } = how.definition;
    const catalogBytes = (): number => live.current().settings.host.limits.catalogBytes;
    return new Connection({ ...how, catalogBytes, clock, onState, onNews, observe: (step) => observe?.(name, step) });
  }

  function toManaged({ server, admission }: AdmittedServer): ManagedServer {
    const { name, definition } = server;
    if (admission.status !== "admitted" || definition === undefined)
      return { state: initialServerState(name, admission, clock.now()) };
    const answering = options.declare
      ? declaredFor(
          name,
          { ...options.declare, roots: options.declare.roots && mayHaveRoots(definition, configuration) },
          options.onQuestion,
        )
      : answerRequests(name, answerersFor(definition, configuration, options), {
          perMinute: questionsPerMinute,
          clock,
        });
    const client = createClient({
      definition,
      connectTimeout,
      async open(opening) {
        const [{ openSession }, { isFirstRun, era: cached }] = await Promise.all([
          import("../../connect/open-session.ts"),
          catalogs.beforeOpen(definition),
        ]);
        const era = chosenEra(options.era, definition, cached);
        const connecting = await context();
        if (server.scope === "workspace" && !configuration.trust.approvesEntries)
          await checkApprovedPrograms(definition, connecting);
        if (isFirstRun && isLaunched(definition.resolved ?? definition.transport))
          onNews({ type: "fetching", server: name });
        const { greeting } = options;
        return openSession(definition, connecting, {
          ...opening,
          ...(greeting && {
            greetingMeta: await greeting.meta(name),
            accepts: (meta, serverInfo) => greeting.accepts(name, meta, serverInfo),
          }),
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
      isLazy: options.lazy === true || definition.extras.start === "lazy",
      isProgram: definition.transport.kind === "stdio",
    };
  }

  function toDemo(isLazy: boolean): ManagedServer {
    const admission = admitBuiltIn(demoName, configuration.settings);
    if (admission.status !== "admitted") return { state: initialServerState(demoName, admission, clock.now()) };
    const open: ConnectionOptions["open"] = async () => {
      const { createDemoSession } = await import("../../demo/session.ts");
      return createDemoSession({ clock });
    };
    const client = createClient({ definition: { name: demoName, excludeTools: [] }, connectTimeout, open });
    return { client, fingerprint: demoName, isLazy };
  }

  const managed = live.configured().map(toManaged);
  return live.hasDemo() ? [...managed, toDemo(options.lazy === true || managed.length > 0)] : managed;
}

/**
 * Identifies a server across reloads: by its definition, the files that it runs, its expanded variables and its
 * permissions. Kept in memory only, because it may contain secrets.
 */
function identityOf(
  { fingerprint, programs, values, extras }: ServerDefinition,
  { trust, locations }: Configuration,
): string {
  return JSON.stringify([
    fingerprint,
    programs,
    [...values],
    extras.sampling,
    extras.roots,
    trust.trusted,
    locations.root,
  ]);
}

/** The protocol to try first. If the server does not support it, `@fairlead/wire` tries other protocols. */
function chosenEra(
  era: OpenHostOptions["era"],
  { transport }: Pick<ServerDefinition, "transport">,
  cached: NegotiatedProtocol | undefined,
): NegotiatedProtocol | undefined {
  if (era === undefined || cached?.era === era) return cached;
  if (transport.kind === "stdio") return { era, transport: "stdio" };
  if (era === "modern") return { era, transport: "http" };
  return { era, transport: transport.kind === "sse" ? "sse" : "http" };
}

/** For a gateway: the capabilities declared to the server, and the function that answers the server's requests. */
function declaredFor(
  server: string,
  { elicitation, sampling, roots }: DeclaredCapabilities,
  onQuestion: OpenHostOptions["onQuestion"],
): Answering {
  return {
    capabilities: {
      ...(elicitation && { elicitation: elicitationCapability }),
      ...(sampling && { sampling: {} }),
      ...(roots && { roots: { listChanged: true } }),
    },
    async onRequest(...question) {
      if (onQuestion) return onQuestion(server, ...question);
      throw new HostError("usage", `${question[0].slice(0, 100)} refused: no client can answer it`);
    },
  };
}

function answerersFor(
  definition: ServerDefinition,
  configuration: Configuration,
  { elicit, sample, onUnaskable }: Pick<ManagedServersOptions, "elicit" | "sample" | "onUnaskable">,
): Answerers {
  const roots = rootsFor(definition, configuration);
  return {
    ...(roots.length > 0 && { roots }),
    ...(elicit && { elicit }),
    ...(onUnaskable && { onUnaskable }),
    ...(sample && definition.extras.sampling && { sample }),
  };
}
