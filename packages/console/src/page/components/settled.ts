/**
 * Keeps a person from pressing what has just moved under the pointer: buttons that decide something are dead until they
 * have stood still, in a visible window, for half a second. And keeps the order of a list while a person is in it.
 */

import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** Milliseconds that a decision's buttons must stand still before they work. */
export const settleTime = 500;

export interface Settled {
  /** For the look of the buttons. Ask `isReady()` when one is pressed. */
  readonly isSettled: boolean;
  readonly isReady: () => boolean;
}

/** Watches an element's position. `key`: what the buttons decide about; another key is another decision. */
export function useSettled(element: RefObject<HTMLElement | null>, key: string): Settled {
  const [isSettled, setSettled] = useState(false);
  const watched = useRef({ position: "", since: Number.POSITIVE_INFINITY, key: "" });
  const look = (): boolean => {
    const { current } = watched;
    const position = element.current === null || document.hidden ? "" : positionOf(element.current);
    const now = performance.now();
    if (position !== current.position || key !== current.key) watched.current = { position, since: now, key };
    return position !== "" && now - watched.current.since >= settleTime;
  };
  useEffect(() => {
    let frame = 0;
    const watch = (): void => {
      setSettled(look());
      frame = requestAnimationFrame(watch);
    };
    watch();
    return () => cancelAnimationFrame(frame);
  }, [key]);
  return { isSettled, isReady: look };
}

function positionOf(element: HTMLElement): string {
  const { x, y, width, height } = element.getBoundingClientRect();
  return [x, y, width, height].map(Math.round).join(" ");
}

/**
 * Returns the ids in the given order, but keeps the earlier order while the pointer or the focus is inside of the
 * element: nothing moves away under the hand. Removed ids disappear at once, new ones come last. `wanted`: what the person
 * has chosen, such as a sorting; another choice counts at once.
 */
export function useCalmOrder(
  ids: readonly string[],
  element: RefObject<HTMLElement | null>,
  wanted: string,
): readonly string[] {
  const [isUsed, setUsed] = useState(false);
  const shown = useRef<readonly string[]>(ids);
  const chosen = useRef(wanted);
  useLayoutEffect(() => {
    const box = element.current;
    if (box === null) return undefined;
    let isPointed = false;
    const update = (): void => setUsed(isPointed || box.contains(document.activeElement));
    const onPointer = (event: PointerEvent): void => {
      isPointed = event.type === "pointerenter" && event.pointerType === "mouse";
      update();
    };
    const onFocus = (): void => queueMicrotask(update);
    box.addEventListener("pointerenter", onPointer);
    box.addEventListener("pointerleave", onPointer);
    box.addEventListener("focusin", onFocus);
    box.addEventListener("focusout", onFocus);
    return () => {
      box.removeEventListener("pointerenter", onPointer);
      box.removeEventListener("pointerleave", onPointer);
      box.removeEventListener("focusin", onFocus);
      box.removeEventListener("focusout", onFocus);
    };
  }, []);
  if (!isUsed || chosen.current !== wanted) {
    shown.current = ids;
    chosen.current = wanted;
    return ids;
  }
  const now = new Set(ids);
  const before = new Set(shown.current);
  const order = [...shown.current.filter((id) => now.has(id)), ...ids.filter((id) => !before.has(id))];
  shown.current = order;
  return order;
}
