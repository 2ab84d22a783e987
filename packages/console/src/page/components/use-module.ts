/** Loads a part of the page when it is first shown, so that the first load of the page stays small. */

import { useEffect, useState } from "preact/hooks";

/**
 * Returns the module, or undefined until it is there. `load` must be a function of the module that uses this; undefined:
 * the module is not needed yet.
 */
export function useModule<T>(load: (() => Promise<T>) | undefined): T | undefined {
  const [loaded, setLoaded] = useState<{ readonly module: T }>();
  useEffect(() => {
    if (load === undefined) return undefined;
    let isGone = false;
    load().then(
      (module) => isGone || setLoaded({ module }),
      // The same connection fails for everything else, and the page says so.
      () => {},
    );
    return () => {
      isGone = true;
    };
  }, [load]);
  return loaded?.module;
}
