/** Keeps the end of a growing page in view, until the person scrolls up. At the end, it follows again. */

import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** Closer to the end than this counts as the end. */
const endPixels = 48;

export interface Follow {
  /** Whether the end is in view, or will be as soon as something is added. */
  readonly isFollowing: boolean;
  readonly followAgain: () => void;
}

/** @param content The element that grows. `isWanted`: whether to begin at the end. */
export function useFollow(content: RefObject<HTMLElement | null>, isWanted: boolean): Follow {
  const following = useRef(isWanted);
  const [isFollowing, setFollowing] = useState(isWanted);
  const [hasEnd, setHasEnd] = useState(true);
  const set = (next: boolean): void => {
    following.current = next;
    setFollowing(next);
  };
  useEffect(() => set(isWanted), [isWanted]);
  useEffect(() => {
    const element = content.current;
    if (element === null) return undefined;
    let before = scrollY;
    const onScroll = (): void => {
      const isUp = scrollY < before;
      before = scrollY;
      // The page itself only scrolls down. It also moves up when something in it closes, and is then at its end.
      if (isAtEnd()) set(true);
      else if (isUp) set(false);
      setHasEnd(isAtEnd());
    };
    const grown = new ResizeObserver(() => {
      if (following.current) scrollToEnd();
      setHasEnd(isAtEnd());
    });
    grown.observe(element);
    addEventListener("scroll", onScroll, { passive: true });
    return () => {
      grown.disconnect();
      removeEventListener("scroll", onScroll);
    };
  }, [content]);
  return {
    isFollowing: isFollowing || hasEnd,
    followAgain: () => {
      set(true);
      scrollToEnd();
    },
  };
}

function isAtEnd(): boolean {
  return document.documentElement.scrollHeight - innerHeight - scrollY <= endPixels;
}

function scrollToEnd(): void {
  scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
}
