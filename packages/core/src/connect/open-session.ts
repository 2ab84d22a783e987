/** Opens a session to a server: expands the definition, plans the start, connects within the timeout, and writes the log. */

import type {
  JsonObject,
  NegotiatedProtocol,
  NotificationListener,
  ProcessRegistry,
  RequestHandler,
  Session,
  Target,
} from "@fairlead/wire";
import type { MachineObserver } from "../auth/machine/machine-step.ts";
import type { ServerAuth } from "../auth/sign-in-need.ts";
import type { Clock } from "../clock.ts";
import type { HostError } from "../errors.ts";
import type { ServerDefinition, Transport } from "../settings/define/definition.ts";
import { expandTransport } from "../settings/define/expand.ts";
import { clientInfo } from "./client-info.ts";
import type { ConnectFacts } from "./connect-failure.ts";
import { type ConnectObserver, createStepper } from "./connect-step.ts";
import { connectTimeoutFor, createDeadline, type Deadline } from "./connect-timeout.ts";
import { type Launch, type LaunchContext, planLaunch } from "./launch.ts";
import { toConnectError } from "./outcome.ts";
import {
  certainLength,
  createRedactor,
  createValueRedactor,
  hideInArguments,
  proxyAccounts,
  type Redact,
  secretsOf,
  unmistakableSecrets,
} from "./redact.ts";
import { hideInError, redactNotifications, redactRequests, redactSession } from "./redact-session.ts";
import type { ServerLog } from "./server-log.ts";
import { createTrafficLog } from "./traffic-log.ts";
import { type SignInTime, type WatchedAuth, watchAuth } from "./watched-auth.ts";

/** The parts of the host that connecting needs; the same for all servers. */
export interface ConnectContext extends LaunchContext {
  /** The process registry of the host, created when the first server starts. */
  readonly keeper: () => Promise<ProcessRegistry>;
  /** `fairlead.connectTimeout`, in milliseconds. */
  readonly connectTimeout: number;
  readonly secret: (name: string) => Promise<string | undefined>;
  /** The sign-in hook of a server's HTTP requests; not used for stdio servers. */
  readonly auth?: (
    definition: ServerDefinition,
    serverUrl: string,
    observe?: MachineObserver,
  ) => Promise<ServerAuth | undefined>;
  readonly log: (serverName: string) => ServerLog;
  /** Whether the log contains every message. */
  readonly debug: (serverName: string) => boolean;
  /** Measures the connect timeout; the system's clock by default. */
  readonly clock?: Clock;
}

/** Options for opening one connection to a server. */
export interface OpenOptions {
  /** Aborts connecting. An open session is ended by its own `close`. */
  readonly signal: AbortSignal;
  readonly observe?: ConnectObserver;
  /** The protocol of the last connection; another one is tried only if this one fails. */
  readonly era?: NegotiatedProtocol;
  /** No earlier connection is known, so a launcher such as `npx` gets time to download the server. */
  readonly isFirstRun?: boolean;
  readonly onNotification?: NotificationListener;
  /** Called when a legacy server's stream for notifications is open again. */
  readonly onReopened?: () => void;
  /** Answers requests of the server; without it Fairlead declares no capabilities. */
  readonly answering?: { readonly capabilities: JsonObject; readonly onRequest: RequestHandler };
  /** Gets every stderr line of the program, without secrets. */
  readonly onStderrLine?: (line: string) => void;
}

/** A session, with facts about how it was opened. */
export interface OpenedSession extends Session {
  /** Milliseconds that connecting and reading the first catalog may take together. */
  readonly connectTimeout?: number;
  /** Time that the person spent signing in, which does not count as the server's delay. */
  readonly signIn?: SignInTime;
  /** The `HostError` for a later failure; `unanswered` names the request that exceeded the connect timeout. */
  readonly explain?: (error: unknown, unanswered?: string) => HostError;
}

/** Opens a session. Rejects with a `HostError` after the server's process and sockets are gone. */
export async function openSession(
  definition: ServerDefinition,
  context: ConnectContext,
  options: OpenOptions,
): Promise<OpenedSession> {
  const { name } = definition;
  const tell = createStepper(options.observe);
  const stored: string[] = [];
  const transport = await expandTransport(definition, async (secretName) => {
    const value = await context.secret(secretName);
    if (value !== undefined) stored.push(value);
    return value;
  });
  const { connectTimeout } = context;
  const timeout = connectTimeoutFor(definition, transport, { connectTimeout, isFirstRun: options.isFirstRun === true });
  const accounts = proxyAccounts(context.environment.env);
  const written = createRedactor([...secretsOf(transport, definition, stored), ...accounts]);
  const deadline = createDeadline(options.signal, timeout.milliseconds, context.clock);
  const auth = await authFor(definition, transport, context, deadline, (step) => tell({ step: "machine", ...step }));
  const redact: Redact = auth === undefined ? written : (text) => auth.redact(written(text));
  const certain = createValueRedactor([...secretsOf(transport, definition, stored, certainLength), ...accounts]);
  const hideValues: Redact = auth === undefined ? certain : (text) => auth.hideTokens(certain(text));
  const unmistakable = createValueRedactor(unmistakableSecrets(transport, definition, stored));
  const hideUnmistakable: Redact = auth === undefined ? unmistakable : (text) => auth.hideTokens(unmistakable(text));
  tell({ step: "definition", transport: definition.transport, timeout, redact });

  const { target, launch } = await targetFor(name, transport, context);
  if (launch) tellLaunch(launch, tell);
  const log = context.log(name);
  const traffic = createTrafficLog({
    log,
    redact,
    debug: context.debug(name),
    onFirstMessage: () => launch && tell({ step: "start" }),
    onStderrLine: options.onStderrLine,
  });
  traffic.note(`connecting: ${describe(target)}`);

  const explain = (error: unknown, circumstances: Pick<ConnectFacts, "isTimedOut" | "lastRequest">): HostError => {
    hideInError(error, { redact, hideValues });
    return toConnectError(error, {
      definition,
      timeout,
      ...traffic.observed(),
      isFound: launch?.file !== undefined,
      withheld: launch?.environment.withheld ?? [],
      droppedPath: launch?.droppedPath ?? [],
      redact,
      ...circumstances,
    });
  };

  deadline.start();
  try {
    const { connect } = await import("@fairlead/wire");
    const session = await connect(target, {
      clientInfo,
      signal: deadline.signal,
      times: { connect: timeout.milliseconds },
      ...(launch && { processes: await context.keeper() }),
      ...(auth && { auth: auth.hook }),
      ...(options.answering && {
        ...options.answering,
        onRequest: redactRequests(options.answering.onRequest, hideValues),
      }),
      ...(options.era && { era: options.era }),
      ...(options.onNotification && { onNotification: redactNotifications(options.onNotification, redact) }),
      ...(options.onReopened && { onReopened: options.onReopened }),
      ...traffic.listeners,
    });
    await auth?.accepted();
    const { era, protocolVersion, serverInfo, protocol } = session;
    tell({ step: "handshake", era, protocolVersion, serverInfo, transport: protocol?.transport ?? "stdio" });
    traffic.note(`connected: ${serverInfo.name} ${serverInfo.version}, protocol ${protocolVersion}`);
    void session.closed.then((cause) => {
      traffic.note(cause === undefined ? "closed" : `lost: ${cause.message}`);
      return log.close();
    });
    return {
      ...redactSession(session, { redact, hideValues, hideUnmistakable }),
      connectTimeout: timeout.milliseconds,
      ...(auth && { signIn: auth.time }),
      explain: (error, unanswered) => explain(error, { isTimedOut: unanswered !== undefined, lastRequest: unanswered }),
    };
  } catch (cause) {
    const error = explain(cause, { isTimedOut: deadline.isOver(), lastRequest: traffic.observed().lastRequest });
    traffic.note(`not connected: ${error.message}`);
    await log.close();
    throw error;
  } finally {
    deadline.stop();
  }
}

async function authFor(
  definition: ServerDefinition,
  transport: Transport,
  { auth, clock }: ConnectContext,
  deadline: Deadline,
  observe: MachineObserver,
): Promise<WatchedAuth | undefined> {
  if (transport.kind === "stdio") return undefined;
  const hook = await auth?.(definition, transport.url, observe);
  return hook && watchAuth(hook, deadline, clock);
}

async function targetFor(
  name: string,
  transport: Transport,
  place: LaunchContext,
): Promise<{ readonly target: Target; readonly launch?: Launch }> {
  if (transport.kind !== "stdio") {
    const { kind, url, headers } = transport;
    return { target: { kind, url, headers: Object.fromEntries(headers) } };
  }
  const launch = await planLaunch(name, transport, place);
  return { target: launch.target, launch };
}

function tellLaunch({ file, target, droppedPath, environment }: Launch, tell: ReturnType<typeof createStepper>): void {
  tell({ step: "program", ...(file !== undefined && { file }), cwd: target.cwd, droppedPath });
  const { passed, set, withheld } = environment;
  tell({ step: "environment", passed, set, withheld });
}

function describe(target: Target): string {
  if (target.kind === "stdio")
    return `${[target.command, ...hideInArguments(target.args)].join(" ")} (in ${target.cwd})`;
  return `${target.url} (${target.kind})`;
}
