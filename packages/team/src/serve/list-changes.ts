/**
 * Tells the other replicas that a list of a server has changed. A server reports that on the connection of one replica,
 * but the client that must learn of it may listen at another one.
 */

import type { ListName } from "@fairlead/core/events";
import type { OpenedHost } from "@fairlead/core/host";
import { type Hints, listHint } from "../store/hints.ts";
import type { Owner } from "../store/owner.ts";

const lists: readonly ListName[] = ["tools", "prompts", "resources"];

export class ListChanges implements Disposable {
  readonly #hints: Hints;
  /** The name of this replica, in front of each id: a replica has heard its own changes already. */
  readonly #process: string;
  readonly #hosts = new Map<OpenedHost, Owner>();
  readonly #stop: () => void;

  constructor(hints: Hints, process: string) {
    this.#hints = hints;
    this.#process = process;
    this.#stop = hints.listen("list", (id) => {
      const [from, hint] = id?.split(":") ?? [];
      if (from !== process && hint !== undefined) this.#changed(hint);
    });
  }

  /** Passes changes on from the host of a user and to it. Returns how to stop. */
  follow(owner: Owner, host: OpenedHost): () => void {
    this.#hosts.set(host, owner);
    const stop = host.on("list_changed", ({ server, list }) =>
      this.#hints.send("list", `${this.#process}:${listHint(owner, server, list)}`),
    );
    return () => {
      stop();
      this.#hosts.delete(host);
    };
  }

  [Symbol.dispose](): void {
    this.#stop();
  }

  #changed(hint: string): void {
    for (const [host, owner] of this.#hosts)
      for (const server of host.gateway.servers.all())
        for (const list of lists) {
          if (listHint(owner, server.name, list) !== hint) continue;
          if (server.hasConnection) server.listChanged(list);
          // What the clients see is from an earlier connection. A new one reads the lists.
          else if (server.catalog !== undefined) void Promise.allSettled([host.start({ servers: [server.name] })]);
        }
  }
}
