/** The servers that the person has selected, to do something with all of them. */

import { useRef, useState } from "preact/hooks";
import type { ServerRow } from "../../../protocol/rows.ts";

export interface Selection {
  readonly names: readonly string[];
  readonly has: (name: string) => boolean;
  readonly set: (name: string, isSelected: boolean) => void;
  readonly replace: (names: readonly string[]) => void;
}

/** The selected servers. A server that is gone is no longer selected. */
export function useSelection(rows: readonly ServerRow[]): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  // The same function at every drawing, so that rows are not drawn again.
  const { current: set } = useRef((name: string, isSelected: boolean) =>
    setChosen((before) => {
      const next = new Set(before);
      if (isSelected) next.add(name);
      else next.delete(name);
      return next;
    }),
  );
  return {
    names: rows.flatMap(({ name }) => (chosen.has(name) ? [name] : [])),
    has: (name) => chosen.has(name),
    set,
    replace: (names) => setChosen(new Set(names)),
  };
}
