/** Replays a recorded conversation in the app: it shows the same screen, but uses no host, server or model. */

import { systemClock } from "@fairlead/core/clock";
import type { RecordedConversation } from "@fairlead/core/conversations";
import { render } from "ink";
import type { Io } from "../shell/verb.ts";
import { App } from "../tui/app.tsx";
import { isCtrl, type Key } from "../tui/input/keys.ts";
import { Store } from "../tui/session/store.ts";
import type { Size } from "../tui/state/app-state.ts";
import { reduce } from "../tui/state/reduce.ts";
import { drawingStream, lookAt, takeTerminal, terminalOf } from "../tui/terminal.ts";
import { LookContext } from "../tui/view/lines.tsx";
import { stateBefore } from "./recorded-events.ts";
import { play } from "./replay-lines.ts";

/** How to replay a conversation in the app. */
export interface ReplayOptions {
  readonly io: Io;
  /** Speed factor: 2 means twice as fast as recorded. */
  readonly speed: number;
  /** Whether to wait for a key before each item of the transcript. */
  readonly step: boolean;
}

/**
 * Replays the conversation. Resolves at its end, or when the user quits.
 * @throws the abort reason of `io.signal`
 */
export async function replayInApp(recorded: RecordedConversation, { io, speed, step }: ReplayOptions): Promise<void> {
  const { stdin, stdout, signal } = terminalOf(io);
  const size = (): Size => ({ columns: stdout.columns, rows: stdout.rows });
  const store = new Store(stateBefore(recorded, size()));
  const stop = new AbortController();
  let goOn = (): void => {};

  function press(key: Key): void {
    const { name, text } = key;
    if (name === "escape" || text === "q" || isCtrl(key, "c")) stop.abort();
    else if (name === "enter" || text === " ") goOn();
  }
  function redraw(): void {
    stdout.write("\u001b[H\u001b[2J");
    store.dispatch({ type: "resize", size: size() });
  }

  /** A clock whose pauses end when the user presses a key. */
  const clock: typeof systemClock = {
    now: () => systemClock.now(),
    after(milliseconds, action, how) {
      const callOff = systemClock.after(milliseconds, action, how);
      goOn = () => {
        callOff();
        action();
      };
      return callOff;
    },
  };
  const nextKey = (): Promise<void> =>
    new Promise((resolve) => {
      goOn = resolve;
      stop.signal.addEventListener("abort", () => resolve(), { once: true });
    });
  const restore = takeTerminal({ stdin, stdout }, press, () => stop.abort());
  stdout.on("resize", redraw);
  const screen = render(
    <LookContext value={lookAt(io)}>
      <App session={{ store, clock: systemClock }} onCommit={() => {}} />
    </LookContext>,
    { stdin, stdout: drawingStream(stdout, () => {}), exitOnCtrlC: false },
  );
  try {
    const how = { speed: step ? undefined : speed, clock, signal: AbortSignal.any([signal, stop.signal]) };
    await play(recorded, how, async (event) => {
      if (step && reduce(store.get(), event).items.length > store.get().items.length) await nextKey();
      store.dispatch(event.type === "turn" || event.type === "sent" ? { ...event, now: systemClock.now() } : event);
    });
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    // The store notifies its listeners in the next iteration of the event loop. Without this wait, the screen would
    // close before the last event is drawn.
    await new Promise((resolve) => setImmediate(resolve));
    stdout.off("resize", redraw);
    screen.unmount();
    restore();
  }
  signal.throwIfAborted();
}
