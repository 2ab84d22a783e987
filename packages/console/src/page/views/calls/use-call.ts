/** Sends a request of the console, and follows it by its events. The address keeps its id, so that a reload shows it again. */

import { useState } from "preact/hooks";
import type { CallRow } from "../../../protocol/rows.ts";
import { useApp, useRoute } from "../../app.ts";
import { useLive } from "../../live.ts";

export interface FollowedCall {
  /** Undefined: nothing was called yet, or its row is no longer kept. */
  readonly row: CallRow | undefined;
  readonly isRunning: boolean;
  /** Begins a call with the id that it is given. */
  readonly begin: (send: (call: string) => Promise<unknown>) => Promise<void>;
  readonly cancel: () => Promise<unknown>;
}

export function useCall(): FollowedCall {
  const { api, store, router } = useApp();
  const { query } = useRoute();
  const [begun, setBegun] = useState<string>();
  const id = begun ?? query["call"] ?? "";
  const row = useLive(store.calls.row(id));
  return {
    row,
    isRunning: row === undefined ? begun !== undefined && begun === id : row.endedAt === undefined,
    async begin(send) {
      const call = crypto.randomUUID();
      setBegun(call);
      try {
        await send(call);
        router.setQuery({ call });
      } catch (error) {
        setBegun(undefined);
        throw error;
      }
    },
    cancel: () => api.run("calls/cancel", { call: id }),
  };
}
