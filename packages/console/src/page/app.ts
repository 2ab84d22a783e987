/** What every component may use: the state, the commands and the address. Created once, in main.tsx. */

import { type Context, createContext } from "preact";
import { useContext, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Params, Result, Verb } from "../protocol/commands.ts";
import { type Api, CommandError } from "./api.ts";
import type { Announcer } from "./components/announcer.ts";
import { useLive } from "./live.ts";
import type { Route, Router } from "./router.ts";
import type { Store } from "./store.ts";

export interface App {
  readonly store: Store;
  readonly api: Api;
  readonly router: Router;
  readonly announcer: Announcer;
  /** Connects to the server now instead of after the pause. */
  readonly reconnect: () => void;
}

export const AppContext: Context<App | undefined> = createContext<App | undefined>(undefined);

export function useApp(): App {
  const app = useContext(AppContext);
  if (app === undefined) throw new Error("the component is outside of the app");
  return app;
}

export function useRoute(): Route {
  return useLive(useApp().router.route);
}

/** What a command has returned. `value` stays while the command runs again. */
export interface Loaded<T> {
  readonly value?: T | undefined;
  readonly error?: CommandError | undefined;
  readonly isLoading: boolean;
  /** Runs the command again. */
  readonly reload: () => void;
}

/**
 * Runs a command that reads, now and whenever the parameters change. `params` undefined: there is nothing to read yet.
 * A result that a later command has overtaken is dropped.
 */
export function useCommand<V extends Verb>(verb: V, params: Params<V> | undefined): Loaded<Result<V>> {
  const { api } = useApp();
  const key = params === undefined ? undefined : JSON.stringify(params);
  const [count, setCount] = useState(0);
  const [loaded, setLoaded] = useState<{ key?: string; value?: Result<V>; error?: CommandError }>({});
  const [isLoading, setLoading] = useState(params !== undefined);
  useEffect(() => {
    if (params === undefined) return undefined;
    const abort = new AbortController();
    setLoading(true);
    const own = key === undefined ? {} : { key };
    api
      .run(verb, params, abort.signal)
      .then(
        (value) => setLoaded({ ...own, value }),
        (error: unknown) => {
          if (!abort.signal.aborted) setLoaded({ ...own, error: toCommandError(error) });
        },
      )
      .finally(() => {
        if (!abort.signal.aborted) setLoading(false);
      });
    return () => abort.abort();
    // The parameters are compared by what they contain.
  }, [verb, key, count]);
  const isCurrent = loaded.key === key;
  return {
    value: isCurrent ? loaded.value : undefined,
    error: isCurrent ? loaded.error : undefined,
    isLoading: isLoading || !isCurrent,
    reload: () => setCount((before) => before + 1),
  };
}

export function toCommandError(error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  return new CommandError({ code: "internal", message: error instanceof Error ? error.message : String(error) });
}

/** Calls a function with the same identity at every drawing: for listeners that use the latest values. */
export function useLatest<A extends readonly unknown[]>(run: (...args: A) => void): (...args: A) => void {
  const latest = useRef(run);
  useLayoutEffect(() => {
    latest.current = run;
  });
  return useRef((...args: A) => latest.current(...args)).current;
}

/** Returns the server's time, and draws the component again every second: all components in the same moment. */
export function useNow(): number {
  const { store } = useApp();
  useLive(store.second);
  return store.now();
}
