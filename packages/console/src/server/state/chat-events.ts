/** The events of one conversation, for pages that come later: the latest ones, within a number of bytes. */

import type { JsonObject } from "@fairlead/wire";

/** Bytes of JSON that are kept of one conversation. */
const mostBytes = 8 * 1024 * 1024;

/** Event types that consist of pieces of one text. */
export function isPiece({ type }: JsonObject): boolean {
  return type === "text" || type === "thought";
}

export class ChatEvents {
  #events: JsonObject[] = [];
  #bytes = 0;
  #removed = 0;
  /** How many events were added. */
  #number = 0;

  /** Adds an event. Returns its number. */
  add(event: JsonObject): number {
    this.#number += 1;
    this.#keep(event);
    return this.#number;
  }

  /** Begins with the events of a recording. */
  replace(events: readonly JsonObject[]): void {
    this.#events = [];
    this.#bytes = 0;
    this.#removed = 0;
    for (const event of events) this.#keep(event);
  }

  /** The latest events, how many earlier ones there are, and the number of the last one. */
  latest(limit: number): {
    readonly events: readonly JsonObject[];
    readonly earlier: number;
    readonly number: number;
  } {
    const events = this.#events.slice(-limit);
    return { events, earlier: this.#removed + this.#events.length - events.length, number: this.#number };
  }

  #keep(event: JsonObject): void {
    const at = this.#placeOf(event);
    const before = at === undefined ? undefined : this.#events[at];
    const isMore = before !== undefined && isPiece(event);
    const kept = isMore ? { ...before, text: `${String(before["text"])}${String(event["text"])}` } : event;
    if (at === undefined) this.#events.push(kept);
    else this.#events[at] = kept;
    this.#bytes += isMore ? String(event["text"]).length : sizeOf(event) - (before === undefined ? 0 : sizeOf(before));
    let removed = 0;
    while (this.#bytes > mostBytes && removed < this.#events.length - 1) {
      this.#bytes -= sizeOf(this.#events[removed] ?? {});
      removed += 1;
    }
    this.#events.splice(0, removed);
    this.#removed += removed;
  }

  /** The place of the event that this one continues: the same text, or the same call in an earlier state. */
  #placeOf(event: JsonObject): number | undefined {
    const last = this.#events.length - 1;
    if (isPiece(event)) return this.#events[last]?.["type"] === event["type"] ? last : undefined;
    if (event["type"] !== "call") return undefined;
    const at = this.#events.findLastIndex(({ type, id }) => type === "call" && id === event["id"]);
    return at === -1 ? undefined : at;
  }
}

function sizeOf(event: JsonObject): number {
  return JSON.stringify(event).length;
}
