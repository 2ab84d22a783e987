/**
 * Lets a program, such as the console, see the protocol messages of all connections of a host, also of those that are
 * open already. While no program listens, a message costs one comparison.
 */

import type { JsonObject } from "@fairlead/wire";
import type { Redact } from "./redact.ts";
import { createMessageHider, type Direction } from "./redact-message.ts";

/** One connection of a server. */
export interface TappedConnection {
  readonly server: string;
  /**
   * Returns a message as JSON, with all secrets of the host hidden.
   *
   * @param asked The method of the request that the message answers.
   */
  readonly write: (direction: Direction, message: JsonObject, asked?: unknown) => string;
}

/** A message as it is sent or received, with its secrets. Fairlead may change the object afterwards. */
export interface TappedMessage {
  readonly connection: TappedConnection;
  readonly direction: Direction;
  readonly message: JsonObject;
  /** The signal of the request that the message is. */
  readonly signal: AbortSignal | undefined;
}

type TapListener = (message: TappedMessage) => void;

/** What a connection reports its messages to. */
export type TakeMessage = (direction: Direction, message: JsonObject, signal: AbortSignal | undefined) => void;

/** The messages of one host. */
export class MessageTap {
  readonly #listeners = new Set<TapListener>();
  readonly #hide: Redact;

  /** @param hide Hides the secrets of all servers: a client or a model may send the secret of one server to another. */
  constructor(hide: Redact) {
    this.#hide = hide;
  }

  /** Calls `listener` with each message from now on. Returns the function that stops this. */
  on(listener: TapListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Returns the function that takes the messages of one connection. `redact` hides the secrets of this connection. */
  connection(server: string, redact: Redact, hideResults: boolean): TakeMessage {
    const write = createMessageHider((text) => this.#hide(redact(text)), hideResults);
    const connection: TappedConnection = { server, write };
    return (direction, message, signal) => {
      if (this.#listeners.size === 0) return;
      for (const listener of this.#listeners) listener({ connection, direction, message, signal });
    };
  }
}
