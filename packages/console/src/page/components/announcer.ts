/**
 * Says what has happened: in a note at the edge of the page, and to a screen reader through one polite region. Messages
 * that come close together are said as one, so that a burst of events does not talk over itself.
 */

import { type Flusher, Live } from "../live.ts";
import { visibleText } from "./text.tsx";

/** A note that the person can read and close. Failures stay until then. */
export interface Toast {
  readonly id: number;
  readonly kind: "done" | "failed";
  readonly text: string;
  /** The next step: a command, or a sentence. */
  readonly next?: string | undefined;
}

const announceEvery = 2000;
const gathering = 100;
const doneTime = 5000;
const mostToasts = 4;

export class Announcer {
  readonly toasts: Live<readonly Toast[]>;
  readonly announced: Live<string>;
  #waiting: string[] = [];
  #isPaused = false;
  #count = 0;
  readonly #flusher: Flusher;

  constructor(flusher: Flusher) {
    this.#flusher = flusher;
    this.toasts = new Live<readonly Toast[]>([], flusher);
    this.announced = new Live("", flusher);
  }

  /** Says something to a screen reader only. */
  say(words: string): void {
    const text = visibleText(words);
    if (!this.#waiting.includes(text)) this.#waiting.push(text);
    if (this.#isPaused) return;
    this.#isPaused = true;
    // What comes in the same moment is said with the first message.
    setTimeout(() => this.#speak(), gathering);
  }

  #speak(): void {
    if (this.#waiting.length === 0) {
      this.#isPaused = false;
      // The same message is said again only if the region was empty meanwhile.
      this.announced.set("");
      return;
    }
    this.announced.set(this.#waiting.join(". "));
    this.#waiting = [];
    setTimeout(() => this.#speak(), announceEvery);
  }

  done(text: string): void {
    const id = this.#add({ kind: "done", text });
    setTimeout(() => this.close(id), doneTime);
  }

  failed({ message, next }: { readonly message: string; readonly next?: string | undefined }): void {
    this.#add({ kind: "failed", text: message, next });
  }

  close(id: number): void {
    this.toasts.set(this.toasts.value.filter((toast) => toast.id !== id));
    this.#flusher.flush();
  }

  #add(toast: Omit<Toast, "id">): number {
    this.#count += 1;
    const id = this.#count;
    const same = this.toasts.value.filter(({ text }) => text !== toast.text);
    this.toasts.set([...same, { ...toast, id }].slice(-mostToasts));
    this.say(toast.text);
    this.#flusher.flush();
    return id;
  }
}
