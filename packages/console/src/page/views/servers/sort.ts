/** The order of the list of servers: by need, or by a column whose title was pressed. */

import type { ServerRow } from "../../../protocol/rows.ts";
import type { Column } from "../../components/table.tsx";

/** What a column is sorted by. Servers without a value come last in both directions. */
const keys = { server: "name", since: "since", tokens: "tokens", calls: "calls", median: "median" } as const;

type Key = keyof typeof keys;

/** Undefined: by need. */
export type Sort = { readonly key: Key; readonly isDescending: boolean } | undefined;

/** Reads the parameter of the address: `tokens`, or `-tokens` for the largest first. */
export function toSort(text: string | undefined): Sort {
  const key = text?.replace(/^-/, "") ?? "";
  return isKey(key) ? { key, isDescending: text?.startsWith("-") === true } : undefined;
}

export function sorted(rows: readonly ServerRow[], sort: Sort): readonly ServerRow[] {
  if (sort === undefined) return rows;
  const member = keys[sort.key];
  const sign = sort.isDescending ? -1 : 1;
  return [...rows].sort((one, other) => {
    const [a, b] = [one[member], other[member]];
    if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
    return a === b ? 0 : a < b ? -sign : sign;
  });
}

/** The columns with buttons in their titles. A press sorts, a second one turns the order round, a third one ends it. */
export function sortableColumns(
  sort: Sort,
  onSort: (text: string | undefined) => void,
  columns: readonly Column[],
): readonly Column[] {
  return columns.map((column) => {
    const { id } = column;
    if (!isKey(id)) return column;
    const isCurrent = sort?.key === id;
    const direction = !isCurrent ? "none" : sort.isDescending ? "descending" : "ascending";
    // Of figures, a person wants to see the largest first.
    const [first, second] = id === "server" ? [id, `-${id}`] : [`-${id}`, id];
    const next = !isCurrent ? first : (direction === "descending") === first.startsWith("-") ? second : undefined;
    return { ...column, sort: { direction, onSort: () => onSort(next) } };
  });
}

function isKey(text: string): text is Key {
  return text in keys;
}
