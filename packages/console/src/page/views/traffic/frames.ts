/** The messages that the view holds: those that the host still had when it was opened, and all that followed. */

import type { FrameHead } from "../../../protocol/rows.ts";
import type { Api } from "../../api.ts";
import { Live } from "../../live.ts";
import type { Store } from "../../store.ts";

/** Messages that the page keeps. The host keeps its own number of them. */
const mostFrames = 20_000;
const pageSize = 1000;

export class Frames {
  /** Counts the changes of the list. */
  readonly revision: Live<number>;
  readonly #store: Store;
  #frames: FrameHead[] = [];
  readonly #byId = new Map<number, FrameHead>();
  /** How many old messages were dropped, so that a list can keep its place. */
  #dropped = 0;
  #stops: readonly (() => void)[] = [];

  constructor(store: Store) {
    this.#store = store;
    this.revision = new Live(0, store.flusher);
  }

  get all(): readonly FrameHead[] {
    return this.#frames;
  }

  get dropped(): number {
    return this.#dropped;
  }

  find(id: number | undefined): FrameHead | undefined {
    return id === undefined ? undefined : this.#byId.get(id);
  }

  /** The response to a request. */
  answerTo(id: number): FrameHead | undefined {
    return this.#frames.find((frame) => frame.answers === id);
  }

  /** Begins to follow the messages. Returns the function that stops this. */
  follow(api: Api, onError: (error: unknown) => void): () => void {
    const read = (): void =>
      void api.run("traffic/list", { limit: pageSize }).then(({ frames }) => this.#add(frames), onError);
    this.#stops = [
      this.#store.onEvent("frames", ({ frames }) => this.#add(frames)),
      // The events of the time without a connection may be lost.
      this.#store.onEvent("snapshot", read),
    ];
    read();
    return () => {
      for (const stop of this.#stops) stop();
    };
  }

  clear(): void {
    this.#frames = [];
    this.#byId.clear();
    this.#dropped = 0;
    this.#changed();
  }

  #add(frames: readonly FrameHead[]): void {
    const added = frames.filter(({ id }) => !this.#byId.has(id));
    if (added.length === 0) return;
    for (const frame of added) this.#byId.set(frame.id, frame);
    const last = this.#frames.at(-1);
    this.#frames.push(...added);
    // Events can arrive while the older messages are being read.
    if (last !== undefined && added.some(({ id }) => id < last.id))
      this.#frames.sort((one, other) => one.id - other.id);
    const surplus = this.#frames.length - mostFrames;
    if (surplus > 0) {
      for (const { id } of this.#frames.splice(0, surplus)) this.#byId.delete(id);
      this.#dropped += surplus;
    }
    this.#changed();
  }

  #changed(): void {
    this.revision.set(this.revision.value + 1);
  }
}
