/** Stops servers that a request started, after a time without requests. */

import type { Clock } from "../../clock.ts";

/** Tracks which servers are in use. */
export interface IdleStop {
  /** Marks the server as in use until the returned function is called. */
  use(server: string): () => void;
  close(): void;
}

/** Options of `createIdleStop`. */
export interface IdleOptions {
  /** Time without a request after which a server is stopped, in milliseconds. Default: 300 000. */
  readonly milliseconds?: number;
  /** Only lazy servers are stopped. */
  readonly isLazy: (server: string) => boolean;
  readonly stop: (server: string) => void;
  readonly clock: Clock;
}

/** Creates the idle stop of one host. */
export function createIdleStop({ milliseconds = 300_000, isLazy, stop, clock }: IdleOptions): IdleStop {
  const users = new Map<string, number>();
  const timers = new Map<string, () => void>();

  function wait(server: string): void {
    timers.get(server)?.();
    timers.set(
      server,
      clock.after(milliseconds, () => stop(server), { background: true }),
    );
  }

  return {
    use(server) {
      timers.get(server)?.();
      timers.delete(server);
      users.set(server, (users.get(server) ?? 0) + 1);
      return () => {
        const left = (users.get(server) ?? 1) - 1;
        users.set(server, left);
        if (left === 0 && isLazy(server)) wait(server);
      };
    },
    close() {
      for (const callOff of timers.values()) callOff();
      timers.clear();
    },
  };
}
