/** The names that modern HTTP clients have seen. They have no connection that could keep them. */

import type { ClientPinsOptions, SeenName } from "@fairlead/core/server";

/** Maximum number of clients whose names are kept. The one that has been away for longest is forgotten. */
const mostClients = 10_000;

export class SeenNames {
  /** The client that has been away for longest comes first. */
  readonly #clients = new Map<string, SeenName[]>();

  /** The names that a client has seen. Names that it sees are added. */
  of({ key }: { readonly key: string }): ClientPinsOptions {
    const earlier = this.#clients.get(key) ?? [];
    this.#clients.delete(key);
    this.#clients.set(key, earlier);
    const [oldest] = this.#clients.keys();
    if (oldest !== undefined && this.#clients.size > mostClients) this.#clients.delete(oldest);
    const onSeen = (added: readonly SeenName[]): void => {
      for (const name of added) earlier.push(name);
    };
    return { earlier, onSeen };
  }
}
