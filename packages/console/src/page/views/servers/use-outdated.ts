/** Reads again what a view shows of a server, or of all servers, when something has changed that it contains. */

import { useEffect } from "preact/hooks";
import { useApp, useLatest } from "../../app.ts";

/** @param name The server. Undefined: all servers. */
export function useOutdated(name: string | undefined, reload: () => void): void {
  const { store } = useApp();
  const again = useLatest(reload);
  useEffect(() => {
    const stops = [
      store.onEvent("catalog", ({ server }) => (name === undefined || server === name) && again()),
      store.onEvent("policy", again),
      store.onEvent("servers", again),
      store.onEvent("snapshot", again),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, [name, store]);
}
