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
  #order = 0;
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

  /** Whether frames were inserted before others, or all were removed: a list made from them begins anew. */
  get order(): number {
    return this.#order;
  }

  /** How many frames came after this one. */
  countAfter(id: number): number {
    return this.#frames.length - (this.#frames.findLastIndex((frame) => frame.id <= id) + 1);
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
    this.#order += 1;
    this.#changed();
  }

  #add(frames: readonly FrameHead[]): void {
    const added = frames.filter(({ id }) => !this.#byId.has(id));
    if (added.length === 0) return;
    for (const frame of added) this.#byId.set(frame.id, frame);
    const last = this.#frames.at(-1);
    this.#frames.push(...added);
    // Events can arrive while the older messages are being read.
    if (last !== undefined && added.some(({ id }) => id < last.id)) {
      this.#frames.sort((one, other) => one.id - other.id);
      this.#order += 1;
    }
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

/** The frames that fit a filter. As frames arrive, only those are looked at: a filter of all takes longer than drawing. */
export class ShownFrames {
  readonly #frames: Frames;
  readonly #fits: (frame: FrameHead) => boolean;
  #list: FrameHead[] = [];
  #dropped = 0;
  #order = -1;
  #lastId = 0;

  constructor(frames: Frames, fits: (frame: FrameHead) => boolean) {
    this.#frames = frames;
    this.#fits = fits;
  }

  /** How many frames of the list were dropped since it began. */
  get dropped(): number {
    return this.#dropped;
  }

  /** The list now. It is the same array at every call. */
  read(): readonly FrameHead[] {
    const { all, order } = this.#frames;
    if (order !== this.#order) {
      this.#order = order;
      this.#lastId = 0;
      this.#dropped = 0;
      this.#list = [];
    }
    const [first] = all;
    const gone = this.#list.findIndex(({ id }) => first !== undefined && id >= first.id);
    if (gone > 0) {
      this.#list.splice(0, gone);
      this.#dropped += gone;
    }
    let from = all.length;
    while (from > 0 && (all[from - 1]?.id ?? 0) > this.#lastId) from -= 1;
    for (const frame of all.slice(from)) if (this.#fits(frame)) this.#list.push(frame);
    this.#lastId = all.at(-1)?.id ?? 0;
    return this.#list;
  }
}
