/**
 * The host's requests to the client that have no response yet. A new host starts with the same request ids again. The
 * relay replaces them, so that the new host never gets a late answer that was meant for the lost host.
 */

import { readMessage } from "./client-state.ts";

/** Keeps the ids of the host's open requests. All ids are JSON text. */
export class Questions {
  /** Maps the id that the client sees to the host's own id. */
  #open = new Map<string, string>();
  #hosts = 0;

  /** Call this when a host is connected. Returns true for the relay's first host. */
  begin(): boolean {
    this.#hosts += 1;
    return this.#hosts === 1;
  }

  /** Whether the relay has had only one host so far. Its request ids are not replaced. */
  isFirstHost(): boolean {
    return this.#hosts === 1;
  }

  /** Returns the host's request for the client, with the replaced id. */
  ask(id: string, line: Buffer): Buffer {
    if (this.isFirstHost()) {
      this.#open.set(id, id);
      return line;
    }
    const renamed = `${this.#hosts}:${id}`;
    this.#open.set(JSON.stringify(renamed), id);
    return withId(line, renamed);
  }

  /** Returns the client's answer for the host, with the host's own id. Undefined if no open request has this id. */
  answer(id: string, line: Buffer): Buffer | undefined {
    const asked = this.#open.get(id);
    if (asked === undefined) return undefined;
    this.#open.delete(id);
    return asked === id ? line : withId(line, JSON.parse(asked));
  }

  /**
   * Call this when the host is lost. Returns the ids of its open requests, as the client knows them, to cancel them.
   */
  takeOpen(): readonly string[] {
    return this.#take().map(([shown]) => shown);
  }

  /** Call this when the client can no longer answer. Returns the ids of the open requests, as the host knows them. */
  takeUnanswered(): readonly string[] {
    return this.#take().map(([, own]) => own);
  }

  #take(): readonly (readonly [shown: string, own: string])[] {
    const taken = [...this.#open];
    this.#open.clear();
    return taken;
  }
}

function withId(line: Buffer, id: unknown): Buffer {
  return Buffer.from(`${JSON.stringify({ ...readMessage(line), id })}\n`);
}
