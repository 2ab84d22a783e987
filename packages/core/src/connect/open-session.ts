/**
 * Opens a session to a server: connects within the timeout, hides secrets in the server's messages, and explains
 * failures.
 */

import {
  connect,
  type JsonObject,
  type NegotiatedProtocol,
  type NotificationListener,
  type RequestHandler,
  type ServerInfo,
  type Session,
} from "@fairlead/wire";
import type { Clock } from "../clock.ts";
import type { HostError } from "../errors.ts";
import type { ToolConfirmationOutcome } from "../policy/confirmation.ts";
import type { FilteredCatalog } from "../server/filtered-catalog.ts";
import type { ServerDefinition } from "../settings/define/definition.ts";
import { clientInfo } from "./client-info.ts";
import { loopError } from "./connect-failure.ts";
import type { ConnectObserver } from "./connect-step.ts";
import { type ConnectContext, prepareConnection } from "./prepare-connection.ts";
import { redactNotifications, redactRequests, redactSession } from "./redact-session.ts";

/** Options for opening one connection to a server. */
export interface OpenOptions {
  /** Aborts connecting. Has no effect on an open session; use the session's `close`. */
  readonly signal: AbortSignal;
  readonly observe?: ConnectObserver;
  /** The protocol of the last connection. Fairlead tries another protocol only if this one fails. */
  readonly era?: NegotiatedProtocol;
  /** True if no earlier connection is known. A launcher such as `npx` then gets more time, to download the server. */
  readonly isFirstRun?: boolean;
  readonly onNotification?: NotificationListener;
  /** Called when the notification stream of a legacy server is open again. */
  readonly onReopened?: () => void;
  /** Additional members of `_meta` in `initialize` and `server/discover`. */
  readonly greetingMeta?: JsonObject | undefined;
  /**
   * Gets `_meta` and `serverInfo` of the server's answer. Returns false if the server leads back to this gateway, or
   * another reason to refuse it, which continues a sentence after the server's name.
   */
  readonly accepts?: (meta: JsonObject, serverInfo: ServerInfo) => Promise<boolean | string>;
  /** Answers requests from the server, such as sampling. If absent, Fairlead declares no capabilities. */
  readonly answering?: {
    readonly capabilities: JsonObject;
    readonly modernExtensions?: JsonObject;
    readonly onRequest: RequestHandler;
  };
  /** Gets every stderr line of the program, without secrets. */
  readonly onStderrLine?: (line: string) => void;
  /** Asks the user about a host, if the program runs in the background host. Undefined: there is no answer. */
  readonly onHostQuestion?: (
    question: HostQuestion,
    signal: AbortSignal,
  ) => Promise<ToolConfirmationOutcome | undefined>;
}

/** A question of the background host about a host, as `name:port`, that a program wants to reach from its sandbox. */
export interface HostQuestion {
  readonly host: string;
  /** Why the rules ask. */
  readonly reason: string;
  /** The answers to offer. */
  readonly outcomes: readonly ToolConfirmationOutcome[];
}

/** A session, with facts about how it was opened. */
export interface OpenedSession extends Session {
  /** Milliseconds that connecting and reading the first catalog may take together. */
  readonly connectTimeout?: number;
  /** The clock of the session's timeouts, which is paused while a person signs in. Absent if there is no sign-in. */
  readonly timeoutClock?: Pick<Clock, "after"> & { readonly pausedFor: number };
  /**
   * Creates the `HostError` for a failure after connecting. `unanswered` names the request that exceeded the connect
   * timeout.
   */
  readonly explain?: (error: unknown, unanswered?: string) => HostError;
  /** The catalog that the background host has read. Absent for a session of this process, which reads the lists itself. */
  readonly listed?: FilteredCatalog;
}

/** Opens a session. On failure, closes the server's process and sockets first, then rejects with a `HostError`. */
export async function openSession(
  definition: ServerDefinition,
  context: ConnectContext,
  options: OpenOptions,
): Promise<OpenedSession> {
  const prepared = await prepareConnection(definition, context, options);
  const { target, redaction, timeout, deadline, auth, log, traffic, tell, explain, wire } = prepared;
  const { redact, hideValues } = redaction;
  deadline.start();
  try {
    const session = await connect(target, {
      clientInfo,
      ...wire,
      ...options.answering,
      onRequest: options.answering && redactRequests(options.answering.onRequest, hideValues),
      era: options.era,
      greetingMeta: options.greetingMeta,
      onNotification: options.onNotification && redactNotifications(options.onNotification, redact),
      onReopened: options.onReopened,
    });
    const accepted = (await options.accepts?.(session.meta ?? {}, session.serverInfo)) ?? true;
    if (accepted !== true) {
      await session.close();
      throw loopError(definition.name, accepted === false ? undefined : accepted);
    }
    await auth?.accepted();
    const { era, protocolVersion, serverInfo, protocol } = session;
    tell({ step: "handshake", era, protocolVersion, serverInfo, transport: protocol?.transport ?? "stdio" });
    traffic.note(`connected: ${serverInfo.name} ${serverInfo.version}, protocol ${protocolVersion}`);
    void session.closed.then((cause) => {
      traffic.note(cause === undefined ? "closed" : `lost: ${cause.message}`);
      void prepared.release();
      return log.close();
    });
    return {
      ...redactSession(session, redaction),
      connectTimeout: timeout.milliseconds,
      timeoutClock: wire.timeoutClock,
      explain: (error, unanswered) => explain(error, { isTimedOut: unanswered !== undefined, lastRequest: unanswered }),
    };
  } catch (cause) {
    const isTimedOut = deadline.isOver();
    const [npmLog, noSandbox] = await Promise.all([prepared.npmLog(), prepared.whyNoSandbox()]);
    const error = explain(cause, { isTimedOut, lastRequest: traffic.observed().lastRequest, npmLog, noSandbox });
    traffic.note(`not connected: ${error.message}`);
    await Promise.all([prepared.release(), log.close()]);
    throw error;
  } finally {
    deadline.stop();
  }
}
