/** Servers that were started by a call and then forgotten: they are stopped after a while without one. */

import type { Clock } from "../../clock.ts";

export interface IdleStop {
  /** Something of the server is in use until the returned function is called. */
  use(server: string): () => void;
  close(): void;
}

export interface IdleOptions {
  /** Five minutes, unless said otherwise. */
  readonly milliseconds?: number;
  /** Only these are stopped; the others are there to stay. */
  readonly isLazy: (server: string) => boolean;
  readonly stop: (server: string) => void;
  readonly clock: Clock;
}

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
