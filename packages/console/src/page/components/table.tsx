/**
 * A table of 28-pixel rows. On a narrow screen each row becomes a card with a label before each value; it stays a table
 * for a screen reader. Rows subscribe to their own data, so the table itself is drawn only when rows come or go.
 */

import { type ComponentChildren, createContext, type VNode } from "preact";
import { useContext } from "preact/hooks";

export interface Column {
  readonly id: string;
  readonly title: string;
  /** Hides the title where the cells explain themselves. */
  readonly hasHiddenTitle?: boolean;
  /** A CSS width. Without one, the column takes what is left. */
  readonly width?: string;
  readonly align?: "end";
  /** Where a card shows the cell: in its first line, as a labelled value, or not at all. Default: as a value. */
  readonly card?: "head" | "none" | "wide";
  /** Makes the title a button. */
  readonly sort?: { readonly direction: "ascending" | "descending" | "none"; readonly onSort: () => void };
  /** Shown instead of the title, such as a checkbox for all rows. */
  readonly control?: ComponentChildren;
}

export interface TableProps {
  readonly label: string;
  readonly columns: readonly Column[];
  /** Rows and groups. */
  readonly children: ComponentChildren;
  readonly class?: string;
}

const Columns = createContext<readonly Column[]>([]);

export function Table({ label, columns, children, class: name }: TableProps): VNode {
  return (
    <Columns.Provider value={columns}>
      {/* The roles are those of the elements; browsers drop them where the style is not that of a table. */}
      <table class={`table ${name ?? ""}`} aria-label={label} role="table">
        <colgroup>
          {columns.map(({ id, width }) => (
            <col key={id} style={width === undefined ? undefined : { width }} />
          ))}
        </colgroup>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th
                key={column.id}
                scope="col"
                role="columnheader"
                class={column.align === "end" ? "cell-end" : undefined}
                aria-sort={column.sort?.direction}
              >
                <ColumnTitle column={column} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">{children}</tbody>
      </table>
    </Columns.Provider>
  );
}

function ColumnTitle({ column: { title, hasHiddenTitle = false, sort, control } }: { readonly column: Column }): VNode {
  if (control !== undefined) return <>{control}</>;
  if (sort === undefined) return <span class={hasHiddenTitle ? "visually-hidden" : undefined}>{title}</span>;
  const arrow = { ascending: "↑", descending: "↓", none: "" }[sort.direction];
  return (
    <button type="button" class="sort-button" onClick={sort.onSort}>
      {title} <span aria-hidden="true">{arrow}</span>
    </button>
  );
}

export interface RowProps {
  /** One cell for each column, in order. */
  readonly cells: readonly ComponentChildren[];
  /** Follows a press anywhere in the row. The row must also have a link or a button for the keyboard. */
  readonly onOpen?: (() => void) | undefined;
  readonly isSelected?: boolean | undefined;
  readonly class?: string | undefined;
  /** Identifies the row, so that the focus can stay in it. */
  readonly rowKey?: string | undefined;
  /** The cell of the column `to` begins already at the column `from`; the cells between are not shown. */
  readonly span?: { readonly from: string; readonly to: string } | undefined;
}

export function Row({ cells, onOpen, isSelected, class: name, rowKey, span }: RowProps): VNode {
  const columns = useContext(Columns);
  const first = columns.findIndex(({ id }) => id === span?.from);
  const last = columns.findIndex(({ id }) => id === span?.to);
  return (
    // The keyboard uses the link in the row.
    <tr
      role="row"
      class={`${onOpen === undefined ? "" : "row-opens"} ${name ?? ""}`}
      aria-selected={isSelected}
      data-row={rowKey}
      onClick={
        onOpen === undefined
          ? undefined
          : (event) => {
              if (!isOwnControl(event.target) && getSelection()?.isCollapsed !== false) onOpen();
            }
      }
    >
      {columns.map(({ id, title, align, card, hasHiddenTitle = false }, at) =>
        at >= first && at < last ? null : (
          <td
            key={id}
            role="cell"
            class={`cell-${id} card-${card ?? "value"} ${align === "end" ? "cell-end" : ""}`}
            colSpan={at === last ? last - first + 1 : undefined}
            data-label={hasHiddenTitle ? undefined : title}
          >
            {cells[at]}
          </td>
        ),
      )}
    </tr>
  );
}

/** A line between rows that says what the next ones have in common. */
export function GroupRow({ children, id }: { readonly children: ComponentChildren; readonly id?: string }): VNode {
  const columns = useContext(Columns);
  return (
    <tr role="row" class="group-row" id={id}>
      <td role="cell" colSpan={columns.length}>
        {children}
      </td>
    </tr>
  );
}

/** Whether a press belongs to a control in the row, not to the row. */
function isOwnControl(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("a, button, input, select, textarea, summary, label") !== null;
}
