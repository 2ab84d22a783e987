/** What the window has room for, where a style sheet cannot decide it: which columns a table has. */

import { useEffect, useState } from "preact/hooks";

/** Wider than cards, and too narrow for the figures of a long table beside its texts. */
export const fewColumns = "(min-width: 768px) and (max-width: 1199px)";

/** Whether a media query fits the window now. */
export function useMedia(query: string): boolean {
  const [fits, setFits] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const update = (): void => setFits(list.matches);
    update();
    list.addEventListener("change", update);
    return () => list.removeEventListener("change", update);
  }, [query]);
  return fits;
}
