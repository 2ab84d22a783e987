/**
 * The host's requests to the client that have no response yet. A new host starts with the same request ids again. The
 * relay replaces them, so that the new host never gets a late answer that was meant for the lost host.
 */

import { readMessage } from "./client-state.ts";

/** Keeps the ids of the host's open requests. All ids are JSON text. */
export interface Questions {
  /** Call this when a host is connected. Returns true for the relay's first host. */
  begin(): boolean;
  /** Whether the relay has had only one host so far. Its request ids are not replaced. */
  isFirstHost(): boolean;
  /** Returns the host's request for the client, with the replaced id. */
  ask(id: string, line: Buffer): Buffer;
  /** Returns the client's answer for the host, with the host's own id. Undefined if no open request has this id. */
  answer(id: string, line: Buffer): Buffer | undefined;
  /**
   * Call this when the host is lost. Returns the ids of its open requests, as the client knows them, to cancel them.
   */
  takeOpen(): readonly string[];
  /** Call this when the client can no longer answer. Returns the ids of the open requests, as the host knows them. */
  takeUnanswered(): readonly string[];
}

/** Creates an empty record for one client. */
export function createQuestions(): Questions {
  /** Maps the id that the client sees to the host's own id. */
  let open = new Map<string, string>();
  let hosts = 0;

  return {
    begin() {
      hosts += 1;
      return hosts === 1;
    },
    isFirstHost: () => hosts === 1,
    ask(id, line) {
      if (hosts === 1) {
        open.set(id, id);
        return line;
      }
      const renamed = `${hosts}:${id}`;
      open.set(JSON.stringify(renamed), id);
      return withId(line, renamed);
    },
    answer(id, line) {
      const asked = open.get(id);
      if (asked === undefined) return undefined;
      open.delete(id);
      return asked === id ? line : withId(line, JSON.parse(asked));
    },
    takeOpen() {
      const ids = [...open.keys()];
      open = new Map();
      return ids;
    },
    takeUnanswered() {
      const ids = [...open.values()];
      open = new Map();
      return ids;
    },
  };
}

function withId(line: Buffer, id: unknown): Buffer {
  return Buffer.from(`${JSON.stringify({ ...readMessage(line), id })}\n`);
}
