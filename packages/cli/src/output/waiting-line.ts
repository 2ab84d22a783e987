/** Who is still being waited for, and for how long: one line on a terminal, written over every second; nothing elsewhere. */

import { joinSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { Context } from "../verb.ts";
import { cut, eraseLine } from "./progress.ts";

export interface WaitingLine {
  readonly started: (name: string) => void;
  readonly settled: (name: string) => void;
  /** Takes the line off the terminal, so that something else can be written there; it comes back by itself. */
  readonly hide: () => void;
  readonly end: () => void;
}

const interval = 1000;
const mostNames = 3;

export function createWaitingLine({ io: { stderr }, globals }: Pick<Context, "io" | "globals">): WaitingLine {
  const since = new Map<string, number>();
  const isShown = stderr.isTTY === true && !globals.quiet && !globals.json;
  let isDrawn = false;

  function draw(): void {
    hide();
    if (since.size === 0) return;
    stderr.write(cut(words(since, performance.now()), stderr.columns));
    isDrawn = true;
  }

  function hide(): void {
    if (isDrawn) stderr.write(eraseLine);
    isDrawn = false;
  }

  const timer = isShown ? setInterval(draw, interval) : undefined;
  return {
    started: (name) => void since.set(name, performance.now()),
    settled: (name) => void since.delete(name),
    hide,
    end() {
      clearInterval(timer);
      hide();
    },
  };
}

/** The slowest first. */
function words(since: ReadonlyMap<string, number>, now: number): SafeText {
  const names = [...since]
    .slice(0, mostNames)
    .map(([name, start]) => safe`${toSafeLine(name)} (${Math.round((now - start) / 1000)} s)`);
  const left = since.size - names.length;
  return safe`waiting for ${joinSafe(names, safe`, `)}${left > 0 ? safe` and ${left} more` : safe``}`;
}
