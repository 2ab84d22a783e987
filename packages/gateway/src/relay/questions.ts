/**
 * The host's requests to the client that have no response yet. After the loss of a host, a new host uses the same
 * request ids. The relay replaces these ids, so that a late answer to the lost host does not reach the new host.
 */

import { readMessage } from "./client-state.ts";

export interface Questions {
  /** Records that a new host is connected. Returns true if it is the relay's first host. */
  begin(): boolean;
  /** Whether the relay has had only one host so far. The requests of the first host keep their ids. */
  isFirstHost(): boolean;
  /** Returns the host's request, with the id that the client sees. */
  ask(id: string, line: Buffer): Buffer;
  /**
   * Returns the client's answer with the host's own request id. Returns undefined if the answer belongs to no open
   * request.
   */
  answer(id: string, line: Buffer): Buffer | undefined;
  /**
   * Records that the host was lost. Returns the ids of its open requests, so that the relay can cancel them at the
   * client.
   */
  takeOpen(): readonly string[];
  /** Records that the client can no longer answer. Returns the open requests by the ids that the host gave them. */
  takeUnanswered(): readonly string[];
}

export function createQuestions(): Questions {
  /** The key is the request id that the client sees. The value is the host's own request id. */
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
