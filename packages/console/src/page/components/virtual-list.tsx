/**
 * A list of very many rows of one height, of which only those in view exist. When old rows are removed at its beginning,
 * what a person reads stays where it is; new rows at the end are followed until the person scrolls up.
 */

import type { ComponentChildren, VNode } from "preact";
import { useLayoutEffect, useReducer, useRef } from "preact/hooks";

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
  /** What is in view. Where the list follows its end, the drawing knows it before the browser has scrolled. */
  const view = useRef({ top: 0, height: 600 });
  const [, draw] = useReducer((drawn: number) => drawn + 1, 0);
  const firstBefore = useRef(first);
  /** Our own scrolling is no decision of the person. */
  const isOurs = useRef(false);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const measure = new ResizeObserver(() => {
      view.current = viewOf(element);
      draw(undefined);
    });
    measure.observe(element);
    return () => measure.disconnect();
  }, []);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const removed = first - firstBefore.current;
    firstBefore.current = first;
    const before = element.scrollTop;
    // The height that the rows have, without asking the browser for it.
    if (isFollowing) element.scrollTop = count * rowHeight;
    else if (removed > 0) element.scrollTop = Math.max(0, before - removed * rowHeight);
    const { scrollTop } = element;
    if (scrollTop === before) return;
    isOurs.current = true;
    view.current = { ...view.current, top: scrollTop };
    if (!isFollowing) draw(undefined);
  }, [first, count, isFollowing, rowHeight]);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || shown === undefined) return;
    const top = shown * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = top + rowHeight - element.clientHeight;
  }, [shown, rowHeight]);

  const { height } = view.current;
  // The effect scrolls to the end after this drawing, so the rows of the end are drawn already.
  const top = isFollowing ? Math.max(0, count * rowHeight - height) : view.current.top;
  const begin = Math.max(0, Math.floor(top / rowHeight) - beyond);
  const end = Math.min(count, Math.ceil((top + height) / rowHeight) + beyond);
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
        view.current = viewOf(element);
        if (isOurs.current) {
          isOurs.current = false;
          return;
        }
        draw(undefined);
        onFollow?.(element.scrollHeight - element.scrollTop - element.clientHeight <= endPixels);
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
