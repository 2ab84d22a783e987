/** Commands that a page has sent, so that a request that is sent twice runs once. */

import { hash } from "node:crypto";

/** The answer to a command, as it is sent. */
export interface CommandAnswer {
  readonly status: number;
  readonly body: Buffer;
  /** The number of the last event at the time of the answer. */
  readonly lastEvent: number;
}

const mostKeys = 1000;
/** A larger answer is not kept: it is the result of reading, and the page can read again. */
const keptBytes = 64 * 1024;

interface Sent {
  /** Identifies verb and parameters. */
  readonly digest: string;
  /** Undefined if the answer is not kept. */
  answer: Promise<CommandAnswer> | undefined;
}

/** The commands of one session, by their idempotency keys. */
export class AnsweredCommands {
  readonly #sent = new Map<string, Sent>();

  /** Runs the command, unless one with this key was sent before. Undefined if that was another one, or its answer is gone. */
  run(key: string, verb: string, body: string, work: () => Promise<CommandAnswer>): Promise<CommandAnswer> | undefined {
    const digest = hash("sha256", `${verb}\n${body}`);
    const earlier = this.#sent.get(key);
    if (earlier !== undefined) return earlier.digest === digest ? earlier.answer : undefined;
    const answer = work();
    const sent: Sent = { digest, answer };
    this.#sent.set(key, sent);
    answer.then(
      ({ body: { length } }) => {
        if (length > keptBytes) sent.answer = undefined;
        const [oldest] = this.#sent.keys();
        if (this.#sent.size > mostKeys && oldest !== undefined) this.#sent.delete(oldest);
      },
      () => this.#sent.delete(key),
    );
    return answer;
  }
}
