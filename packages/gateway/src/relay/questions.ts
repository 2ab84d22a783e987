/**
 * The host's requests to the client that have no response yet. Every host counts its requests from the beginning: a
 * late answer to a lost host must never reach its successor as the answer to another question.
 */

import { readMessage } from "./client-state.ts";

export interface Questions {
  /** A host begins; returns whether it is the first one. */
  begin(): boolean;
  /** The question as the client gets it. */
  ask(id: string, line: Buffer): Buffer;
  /** The answer as the host gets it; undefined if no open question of this host has that id. */
  answer(id: string, line: Buffer): Buffer | undefined;
  /** The host was lost: the ids of its questions, which the client need not answer any more. */
  lost(): readonly string[];
}

export function createQuestions(): Questions {
  /** The host's ids, by the client's. */
  let open = new Map<string, string>();
  let hosts = 0;

  return {
    begin() {
      hosts += 1;
      return hosts === 1;
    },
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
    lost() {
      const ids = [...open.keys()];
      open = new Map();
      return ids;
    },
  };
}

function withId(line: Buffer, id: unknown): Buffer {
  return Buffer.from(`${JSON.stringify({ ...readMessage(line), id })}\n`);
}
