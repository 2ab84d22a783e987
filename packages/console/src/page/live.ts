/**
 * Values that change while the page shows them. A component subscribes to the values that it shows, and nothing else is
 * drawn again. Changes are collected: hundreds of events a second are still only ten drawings a second, and none while
 * the tab is hidden.
 */

import { useLayoutEffect, useReducer } from "preact/hooks";

/** Milliseconds between two drawings of changed values. */
const pause = 100;

/** Tells the components about changed values, all at once. */
export class Flusher {
  readonly #changed = new Set<Live<unknown>>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(page: Pick<Document, "hidden" | "addEventListener"> = document) {
    this.#page = page;
    page.addEventListener("visibilitychange", () => {
      if (!page.hidden) this.flush();
    });
  }

  readonly #page: Pick<Document, "hidden">;

  add(cell: Live<unknown>): void {
    this.#changed.add(cell);
    if (this.#timer === undefined && !this.#page.hidden) this.#timer = setTimeout(() => this.flush(), pause);
  }

  /** Draws now what has changed: for changes that the person has made. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const cells = [...this.#changed];
    this.#changed.clear();
    for (const cell of cells) cell.tell();
  }
}

/** A value with the components that show it. */
export class Live<T> {
  #value: T;
  /** Counts the changes, so that a component notices one between its drawing and its subscription. */
  #version = 0;
  readonly #flusher: Flusher;
  readonly #listeners = new Set<() => void>();

  constructor(value: T, flusher: Flusher) {
    this.#value = value;
    this.#flusher = flusher;
  }

  get value(): T {
    return this.#value;
  }

  get version(): number {
    return this.#version;
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    this.#version += 1;
    if (this.#listeners.size > 0) this.#flusher.add(this as Live<unknown>);
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Rows by their id, in an order. Each row is a value of its own. */
export class Rows<T> {
  readonly ids: Live<readonly string[]>;
  /** Counts changes of any row, for what is computed from all of them. */
  readonly revision: Live<number>;
  readonly #cells = new Map<string, Live<T | undefined>>();
  readonly #flusher: Flusher;

  constructor(flusher: Flusher) {
    this.#flusher = flusher;
    this.ids = new Live<readonly string[]>([], flusher);
    this.revision = new Live(0, flusher);
  }

  /** The row with this id. Its value is undefined while there is no such row. */
  row(id: string): Live<T | undefined> {
    let cell = this.#cells.get(id);
    if (cell === undefined) {
      cell = new Live<T | undefined>(undefined, this.#flusher);
      this.#cells.set(id, cell);
    }
    return cell;
  }

  get(id: string): T | undefined {
    return this.#cells.get(id)?.value;
  }

  /** All rows in order. */
  all(): readonly T[] {
    return this.ids.value.flatMap((id) => this.get(id) ?? []);
  }

  replace(rows: readonly (readonly [id: string, row: T])[]): void {
    const kept = new Set(rows.map(([id]) => id));
    for (const [id, cell] of this.#cells) if (!kept.has(id)) cell.set(undefined);
    for (const [id, row] of rows) this.row(id).set(row);
    this.ids.set(rows.map(([id]) => id));
    this.#revise();
  }

  /** Changes a row, or adds it at one end. With more than `most` rows, those at the other end are removed. */
  put(id: string, row: T, { end = "last", most = Number.POSITIVE_INFINITY }: PutOptions = {}): void {
    this.row(id).set(row);
    const ids = this.ids.value;
    if (!ids.includes(id)) {
      const next = end === "first" ? [id, ...ids] : [...ids, id];
      const removed = end === "first" ? next.slice(most) : next.slice(0, Math.max(0, next.length - most));
      for (const old of removed) this.#forget(old);
      this.ids.set(removed.length === 0 ? next : next.filter((each) => !removed.includes(each)));
    }
    this.#revise();
  }

  remove(id: string): void {
    this.#forget(id);
    this.ids.set(this.ids.value.filter((each) => each !== id));
    this.#revise();
  }

  #forget(id: string): void {
    this.#cells.get(id)?.set(undefined);
    this.#cells.delete(id);
  }

  #revise(): void {
    this.revision.set(this.revision.value + 1);
  }
}

interface PutOptions {
  readonly end?: "first" | "last";
  readonly most?: number;
}

/** Returns the value, and draws the component again when it changes. */
export function useLive<T>(cell: Live<T>): T {
  const [, draw] = useReducer((count: number) => count + 1, 0);
  const { version } = cell;
  useLayoutEffect(() => {
    if (cell.version !== version) draw(undefined);
    return cell.subscribe(() => draw(undefined));
    // Only another cell needs another subscription.
  }, [cell]);
  return cell.value;
}

/** Returns all rows in order, and draws the component again when one of them changes. */
export function useRows<T>(rows: Rows<T>): readonly T[] {
  useLive(rows.revision);
  return rows.all();
}
