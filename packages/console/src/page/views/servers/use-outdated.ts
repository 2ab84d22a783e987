/** Reads a server's details again when something has changed that they contain. */

import { useEffect } from "preact/hooks";
import { useApp, useLatest } from "../../app.ts";

export function useOutdated(name: string, reload: () => void): void {
  const { store } = useApp();
  const again = useLatest(reload);
  useEffect(() => {
    const stops = [
      store.onEvent("catalog", ({ server }) => server === name && again()),
      store.onEvent("policy", again),
      store.onEvent("servers", again),
      store.onEvent("snapshot", again),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, [name, store]);
}
