/** What the console's HTTP side needs of a host: its state, its events and its commands. */

import type { Params, Result, Verb } from "../protocol/commands.ts";
import type { ConsoleEvent, Snapshot } from "../protocol/events.ts";
import type { FramedView, OpenFrame } from "./views/view-frames.ts";

/** Serves the pages of views (MCP Apps) to one console. */
export interface ViewFrameServer {
  /** Adds a page that can be loaded once. */
  add(view: FramedView): OpenFrame;
}

export interface RunOptions {
  /** Absent: the page cannot show views. */
  readonly frames?: ViewFrameServer | undefined;
  /** Aborted when the console closes. */
  readonly signal: AbortSignal;
}

/** Everything of a host that one console shows. `ConsoleState` implements it. */
export interface ConsoleSource extends AsyncDisposable {
  snapshot(): Promise<Snapshot>;
  /**
   * Runs a command of the page.
   *
   * @param params As the page has sent them: not yet checked.
   * @throws HostError `usage` if the parameters are wrong
   */
  run<V extends Verb>(
    verb: V,
    params: Readonly<Record<keyof Params<V>, unknown>>,
    options: RunOptions,
  ): Promise<Result<V>>;
  /** Calls `listener` with each event from now on. Returns the function that stops this. */
  onEvent(listener: (event: ConsoleEvent) => void): () => void;
}
