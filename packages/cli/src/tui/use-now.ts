/** A React hook for the current time; it does not tick while nothing on the screen depends on it. */

import type { Clock } from "@fairlead/core/clock";
import { useEffect, useState } from "react";

/** `every`: milliseconds between updates; undefined for none. */
export function useNow(clock: Clock, every: number | undefined): number {
  const [now, setNow] = useState(() => clock.now());
  useEffect(() => {
    if (every === undefined) return;
    let callOff = clock.after(0, () => tick(every), { background: true });
    function tick(pause: number): void {
      setNow(clock.now());
      callOff = clock.after(pause, () => tick(pause), { background: true });
    }
    return () => callOff();
  }, [clock, every]);
  return now;
}
