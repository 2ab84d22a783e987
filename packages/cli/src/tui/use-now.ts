/** The time, for what changes on the screen as time goes by; it stands still while nothing does. */

import type { Clock } from "@fairlead/core/clock";
import { useEffect, useState } from "react";

/** `every`: milliseconds; undefined while nothing moves. */
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
