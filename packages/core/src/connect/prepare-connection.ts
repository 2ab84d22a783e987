/**
 * Prepares a connection to a server: expands the definition, plans the start, hides secrets, and writes the log and the
 * recording. Sessions and relays both use it.
 */

import {
  type ConnectOptions,
  type JsonObject,
  type LargeMessages,
  PausableTime,
  type ProcessRegistry,
  type Target,
} from "@fairlead/wire";
import type { ServerAuth } from "../auth/auth-hook.ts";
import type { MachineObserver } from "../auth/machine/machine-auth.ts";
import type { Clock } from "../clock.ts";
import type { HostError } from "../errors.ts";
import type { SandboxContext } from "../sandbox/box.ts";
import type { HostWish } from "../sandbox/egress.ts";
import type { PackageFetch } from "../sandbox/fetch-package.ts";
import type { UnavailableCause } from "../sandbox/unavailable.ts";
import type { ServerDefinition, Transport } from "../settings/define/definition.ts";
import { expandTransport } from "../settings/define/expand.ts";
import type { ConnectFacts } from "./connect-failure.ts";
import { type ConnectObserver, type ConnectTimeout, createStepper } from "./connect-step.ts";
import { connectTimeoutFor, createDeadline, type Deadline } from "./connect-timeout.ts";
import { type Launch, type LaunchContext, planLaunch } from "./launch.ts";
import type { MessageTap, TakeMessage } from "./message-tap.ts";
import { findNpmLog, type NpmLog } from "./npm-log.ts";
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
import { createMessageWriter, type MessageWriter } from "./redact-message.ts";
import { hideInError, type SessionRedaction } from "./redact-session.ts";
import type { ServerLog } from "./server-log.ts";
import { createTrafficLog, type TrafficLog } from "./traffic-log.ts";
import { type WatchedAuth, watchAuth } from "./watched-auth.ts";

/** The parts of the host that the connections of all servers share. */
export interface ConnectContext extends LaunchContext {
  /** The process registry of the host, created when the first server starts. */
  readonly keeper: () => Promise<ProcessRegistry>;
  /** What the sandboxes of the host share. Absent if the program starts no servers of settings files. */
  readonly sandbox?: Omit<SandboxContext, keyof LaunchContext> | undefined;
  /** The limit for large messages of all servers together. */
  readonly largeMessages?: LargeMessages | undefined;
  /** The setting `fairlead.connectTimeout`, in milliseconds. */
  readonly connectTimeout: number;
  /** Returns a stored secret, or what a command prints (`command-secret.ts`). */
  readonly secret: (name: string, signal?: AbortSignal) => Promise<string | undefined>;
  /** The sign-in hook for a server's HTTP requests; not used for stdio servers. */
  readonly auth?: (
    definition: ServerDefinition,
    serverUrl: string,
    observe?: MachineObserver,
  ) => Promise<ServerAuth | undefined>;
  readonly log: (serverName: string) => ServerLog;
  /** Whether the log file contains every message. */
  readonly debug: (serverName: string) => boolean;
  /** Starts recording a connection. Returns the function that receives its messages. Absent if nothing is recorded. */
  readonly record?:
    | ((
        serverName: string,
        write: MessageWriter,
      ) => Promise<(direction: "sent" | "received", message: JsonObject) => void>)
    | undefined;
  /**
   * Returns the function that hides the secrets of all servers in recordings. Default: only the secrets of this server
   * are hidden.
   */
  readonly hideSecrets?: () => Promise<Redact>;
  /** Gets every message of every connection. */
  readonly tap?: MessageTap | undefined;
  /** The clock for the connect timeout. Default: the system's clock. */
  readonly clock?: Clock;
}

/** A connection that is ready to be opened. */
export interface PreparedConnection {
  readonly target: Target;
  readonly redaction: SessionRedaction;
  readonly timeout: ConnectTimeout;
  readonly deadline: Deadline;
  readonly auth: WatchedAuth | undefined;
  readonly log: ServerLog;
  readonly traffic: TrafficLog;
  readonly tell: ReturnType<typeof createStepper>;
  /** The options of `@fairlead/wire` that are the same for a session and a relay. */
  readonly wire: Pick<ConnectOptions, "signal" | "times" | "timeoutClock" | "processes" | "largeMessages" | "auth"> &
    Listeners;
  readonly explain: (error: unknown, circumstances: Circumstances) => HostError;
  /** Closes what the sandbox of the program needs. Call it when the connection has ended, or could not be opened. */
  readonly release: () => Promise<void>;
  /** Returns npm's log of this start, if npm starts the server. */
  readonly npmLog: () => Promise<NpmLog | undefined>;
  /** Why this system could not make the sandbox of the program that has ended. Undefined if it can, or if there is none. */
  readonly whyNoSandbox: () => Promise<UnavailableCause | undefined>;
}

type Circumstances = Pick<ConnectFacts, "isTimedOut" | "lastRequest" | "npmLog" | "noSandbox">;

type Listeners = TrafficLog["listeners"];

export interface PrepareOptions {
  readonly signal: AbortSignal;
  readonly observe?: ConnectObserver | undefined;
  readonly isFirstRun?: boolean | undefined;
  readonly onStderrLine?: ((line: string) => void) | undefined;
}

/**
 * Prepares a connection without opening it.
 *
 * @throws HostError if a secret is missing or a folder is not trusted
 */
export async function prepareConnection(
  definition: ServerDefinition,
  context: ConnectContext,
  options: PrepareOptions & { readonly isRelay?: boolean },
): Promise<PreparedConnection> {
  const { name } = definition;
  const tell = createStepper(options.observe);
  const stored: string[] = [];
  const transport = await expandTransport(definition, async (secretName) => {
    const value = await context.secret(secretName, options.signal);
    if (value !== undefined) stored.push(value);
    return value;
  });
  const timeout = connectTimeoutFor(definition, transport, context.connectTimeout, options.isFirstRun === true);
  const accounts = proxyAccounts(context.environment.env);
  const secrets = secretsOf(transport, definition, stored);
  const written = createRedactor([...secrets, ...accounts]);
  const timeoutClock = new PausableTime(context.clock);
  const deadline = createDeadline(options.signal, timeout.milliseconds, timeoutClock);
  const auth = await authFor(definition, transport, context, (step) => tell({ step: "machine", ...step }));
  const redact: Redact = auth === undefined ? written : (text) => auth.redact(written(text));
  // Most servers have no secrets: the two slow searches for certain kinds of secrets are then unnecessary.
  const certainSecrets = secrets.length === 0 ? [] : secretsOf(transport, definition, stored, certainLength);
  const certain = createValueRedactor([...certainSecrets, ...accounts]);
  const hideValues: Redact = auth === undefined ? certain : (text) => auth.hideTokens(certain(text));
  const unmistakable = createValueRedactor(
    secrets.length === 0 ? [] : unmistakableSecrets(transport, definition, stored),
  );
  const hideUnmistakable: Redact = auth === undefined ? unmistakable : (text) => auth.hideTokens(unmistakable(text));
  tell({ step: "definition", transport: definition.transport, timeout, redact });

  const log = context.log(name);
  const { target, launch, release, trySandbox } = await targetFor(definition, transport, context, {
    note: (text) => traffic.note(text),
    fetching: {
      signal: options.signal,
      onLine: options.onStderrLine,
      // The connect timeout is about the server. A package may take minutes.
      onFetching: (isFetching) => (isFetching ? timeoutClock.pause() : timeoutClock.resume()),
    },
  });
  if (launch) tellLaunch(launch, tell);
  const traffic = createTrafficLog({
    log,
    redact,
    debug: context.debug(name),
    isRelay: options.isRelay === true,
    onFirstMessage: () => launch && tell({ step: "start" }),
    onStderrLine: options.onStderrLine,
  });
  traffic.note(`connecting: ${describe(launch?.target ?? target)}${definition.sandbox ? ", in its sandbox" : ""}`);

  const startedAt = Date.now();
  const explain = (error: unknown, circumstances: Circumstances): HostError => {
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

  const record = await beginRecording(definition, redact, context);
  const tap = context.tap?.connection(name, redact, definition.extras.hideResults === true);
  return {
    target,
    redaction: { redact, hideValues, hideUnmistakable },
    timeout,
    deadline,
    auth,
    log,
    traffic,
    tell,
    explain,
    release,
    npmLog: async () =>
      transport.kind === "stdio" && launch
        ? findNpmLog(transport, launch.target.env, context.environment, startedAt)
        : undefined,
    // A program can write what bubblewrap would. So a message of bubblewrap is a reason to try a sandbox, and proves nothing.
    whyNoSandbox: async () =>
      traffic.observed().stderr.some((line) => line.startsWith("bwrap: ")) ? trySandbox?.() : undefined,
    wire: {
      signal: deadline.signal,
      times: { connect: timeout.milliseconds },
      timeoutClock: auth && timeoutClock,
      processes: launch && (await context.keeper()),
      largeMessages: context.largeMessages,
      auth: auth?.hook,
      ...withTakers(traffic.listeners, record, tap),
    },
  };
}

function withTakers(
  listeners: Listeners,
  record: Listeners["onMessage"] | undefined,
  tap: TakeMessage | undefined,
): Listeners {
  if (record === undefined && tap === undefined) return listeners;
  return {
    ...listeners,
    onMessage(direction, message, signal) {
      listeners.onMessage(direction, message);
      record?.(direction, message);
      tap?.(direction, message, signal);
    },
  };
}

async function authFor(
  definition: ServerDefinition,
  transport: Transport,
  { auth }: ConnectContext,
  observe: MachineObserver,
): Promise<WatchedAuth | undefined> {
  if (transport.kind === "stdio") return undefined;
  const hook = await auth?.(definition, transport.url, observe);
  return hook && watchAuth(hook);
}

async function targetFor(
  definition: ServerDefinition,
  transport: Transport,
  context: ConnectContext,
  { note, fetching }: { readonly note: (text: string) => void; readonly fetching: PackageFetch },
): Promise<PlannedTarget> {
  const release = async (): Promise<void> => {};
  if (transport.kind !== "stdio") {
    const { kind, url, headers } = transport;
    return { target: { kind, url, headers: Object.fromEntries(headers) }, release };
  }
  const launch = await planLaunch(definition.name, transport, context);
  const { sandbox } = definition;
  if (sandbox === undefined) return { target: launch.target, launch, release };
  const { hostText, openBox, unavailable, whyNoSandbox } = await import("../sandbox/box.ts");
  const shared = context.sandbox;
  if (shared === undefined)
    throw unavailable(definition.name, { why: "this program has none", fix: "Start it with fairlead" });
  const boxContext = {
    ...context,
    ...shared,
    onRefused(serverName: string, wish: HostWish, reason: string) {
      note(`sandbox: ${hostText(wish)} refused: ${reason}`);
      shared.onRefused?.(serverName, wish, reason);
    },
  };
  const boxed = await openBox({ ...definition, sandbox }, launch, boxContext, fetching);
  return {
    target: boxed.target,
    launch,
    release: () => boxed.close(),
    trySandbox: () => whyNoSandbox(boxContext),
  };
}

interface PlannedTarget {
  readonly target: Target;
  readonly launch?: Launch;
  readonly release: () => Promise<void>;
  /** Finds out why this system cannot make a sandbox. Absent if the server has none. */
  readonly trySandbox?: () => Promise<UnavailableCause | undefined>;
}

function tellLaunch({ file, target, droppedPath, environment }: Launch, tell: ReturnType<typeof createStepper>): void {
  tell({ step: "program", file, cwd: target.cwd, droppedPath });
  const { passed, set, withheld } = environment;
  tell({ step: "environment", passed, set, withheld });
}

function describe(target: Target): string {
  if (target.kind === "stdio")
    return `${[target.command, ...hideInArguments(target.args)].join(" ")} (in ${target.cwd})`;
  return `${target.url} (${target.kind})`;
}

/** The function that gets the messages to record; undefined if nothing is recorded. */
async function beginRecording(
  { name, extras }: ServerDefinition,
  redact: Redact,
  { record, hideSecrets }: Pick<ConnectContext, "record" | "hideSecrets">,
): Promise<((direction: "sent" | "received", message: JsonObject) => void) | undefined> {
  if (record === undefined) return undefined;
  // Secrets of all servers are hidden, because a client or a model may send the secret of one server to another server.
  const hideOthers = (await hideSecrets?.()) ?? ((text: string) => text);
  return record(
    name,
    createMessageWriter((text) => hideOthers(redact(text)), extras.hideResults === true),
  );
}
