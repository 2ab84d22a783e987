/** Opens a relay to a server: connects in the same way as a session, but passes the client's messages on unchanged. */

import type { RpcMessage, ServerRelay } from "@fairlead/wire/serve";
import type { HostError } from "../errors.ts";
import type { ServerDefinition } from "../settings/define/definition.ts";
import { type ConnectContext, type PrepareOptions, prepareConnection } from "./prepare-connection.ts";

export interface RelayOptions extends PrepareOptions {
  readonly onReceived: (message: RpcMessage) => void;
}

/** A relay whose promise `closed` gives the reason for its end. */
export interface OpenedRelay extends Omit<ServerRelay, "closed"> {
  /** Resolves when the connection ends: with the cause if the server ended the connection, otherwise with undefined. */
  readonly closed: Promise<HostError | undefined>;
}

/**
 * Opens a relay.
 *
 * @throws HostError if the server cannot be started or reached
 */
export async function openRelay(
  definition: ServerDefinition,
  context: ConnectContext,
  options: RelayOptions,
): Promise<OpenedRelay> {
  const prepared = await prepareConnection(definition, context, { ...options, isRelay: true });
  const { target, wire, log, traffic, explain } = prepared;
  const { openServerRelay } = await import("@fairlead/wire/serve");
  const toHostError = async (cause: unknown): Promise<HostError> => {
    const { lastRequest } = traffic.observed();
    const error = explain(cause, { isTimedOut: false, lastRequest, noSandbox: await prepared.whyNoSandbox() });
    traffic.note(`not connected: ${error.message}`);
    return error;
  };
  try {
    const relay = await openServerRelay(target, { ...wire, onReceived: options.onReceived });
    const closed = relay.closed.then(async (cause) => {
      const error = cause && (await toHostError(cause));
      await Promise.all([prepared.release(), log.close()]);
      return error;
    });
    return { ...relay, closed };
  } catch (cause) {
    const error = await toHostError(cause);
    await Promise.all([prepared.release(), log.close()]);
    throw error;
  }
}
