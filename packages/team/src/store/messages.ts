/** Messages between replicas: to a session of a client, or to one replica. */

export interface NewMessage {
  readonly text: string;
  /** When it can be forgotten, in milliseconds since 1970. */
  readonly until: number;
  /** It replaces the earlier message to the address with the same key. Default: it replaces none. */
  readonly key?: string;
}

export interface StoredMessage {
  readonly address: string;
  /** Larger for each later message to an address. */
  readonly number: number;
  readonly text: string;
}

export interface MessageStore {
  send(address: string, message: NewMessage): Promise<void>;
  /** All messages to these addresses that are not forgotten, oldest first. */
  list(addresses: readonly string[]): Promise<readonly StoredMessage[]>;
}
