/**
 * A list of very many rows of one height, of which only those in view exist. When old rows are removed at its beginning,
 * what a person reads stays where it is; new rows at the end are followed until the person scrolls up.
 */

import type { ComponentChildren, VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export interface VirtualListProps {
  readonly label: string;
  readonly count: number;
  readonly rowHeight: number;
  readonly renderRow: (index: number) => ComponentChildren;
  /** The number of the first row, counted from the beginning. It grows when rows are removed there. */
  readonly first?: number;
  /** Follow the newest row at the end. */
  readonly isFollowing?: boolean;
  /** The person has scrolled away from the end, or back to it. */
  readonly onFollow?: (isFollowing: boolean) => void;
  readonly role?: "log" | "list" | "grid";
  /** The row to bring into view. */
  readonly shown?: number | undefined;
  readonly class?: string;
}

/** Rows beyond the view that exist too, so that a fast scroll shows no gap. */
const beyond = 12;
/** Closer to the end than this counts as the end. */
const endPixels = 8;

export function VirtualList(props: VirtualListProps): VNode {
  const { label, count, rowHeight, renderRow, first = 0, isFollowing = false, onFollow, role = "list", shown } = props;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const firstBefore = useRef(first);
  /** Our own scrolling is no decision of the person. */
  const isOurs = useRef(false);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const measure = new ResizeObserver(() => setView(viewOf(element)));
    measure.observe(element);
    return () => measure.disconnect();
  }, []);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const removed = first - firstBefore.current;
    firstBefore.current = first;
    const before = element.scrollTop;
    if (isFollowing) element.scrollTop = element.scrollHeight;
    else if (removed > 0) element.scrollTop = Math.max(0, before - removed * rowHeight);
    if (element.scrollTop === before) return;
    isOurs.current = true;
    setView(viewOf(element));
  }, [first, count, isFollowing, rowHeight]);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || shown === undefined) return;
    const top = shown * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = top + rowHeight - element.clientHeight;
  }, [shown, rowHeight]);

  const begin = Math.max(0, Math.floor(view.top / rowHeight) - beyond);
  const end = Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + beyond);
  const rowRole = role === "log" ? undefined : role === "grid" ? "row" : "listitem";
  return (
    <div
      ref={box}
      class={`virtual-list ${props.class ?? ""}`}
      role={role}
      aria-label={label}
      aria-live={role === "log" ? "off" : undefined}
      aria-rowcount={role === "grid" ? count : undefined}
      tabIndex={0}
      onScroll={(event) => {
        const element = event.currentTarget;
        setView(viewOf(element));
        if (!isOurs.current) onFollow?.(element.scrollHeight - element.scrollTop - element.clientHeight <= endPixels);
        isOurs.current = false;
      }}
    >
      <div class="virtual-space" role="presentation" style={{ height: `${count * rowHeight}px` }}>
        {Array.from({ length: Math.max(0, end - begin) }, (_, at) => begin + at).map((index) => (
          <div
            key={first + index}
            class="virtual-row"
            role={rowRole}
            aria-rowindex={role === "grid" ? index + 1 : undefined}
            aria-posinset={role === "list" ? index + 1 : undefined}
            aria-setsize={role === "list" ? count : undefined}
            style={{ height: `${rowHeight}px`, transform: `translateY(${index * rowHeight}px)` }}
          >
            {renderRow(index)}
          </div>
        ))}
      </div>
    </div>
  );
}

function viewOf(element: HTMLElement): { readonly top: number; readonly height: number } {
  return { top: element.scrollTop, height: element.clientHeight };
}
