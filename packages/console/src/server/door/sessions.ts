/** Who may use a console: one-time codes in addresses, and the bearers that pages get for them. */

import { hash, randomBytes } from "node:crypto";
import type { Clock } from "@fairlead/core/clock";

/** An address can be opened for this many milliseconds. */
const codeTime = 60_000;
/** One more closes the oldest: each is a window that a person has opened. */
const mostSessions = 32;
const mostCodes = 32;

/** What a bearer stands for. `T`: what its page shows. */
export interface Session<T> {
  readonly subject: T;
  /** Aborted when the bearer becomes invalid. */
  readonly signal: AbortSignal;
}

interface OpenSession<T> extends Session<T> {
  readonly end: () => void;
}

/** The codes and bearers of one listener. Only their digests are kept, so the time of a comparison tells nothing. */
export class Sessions<T> {
  readonly #clock: Pick<Clock, "after">;
  readonly #codes = new Map<string, { readonly subject: T; readonly callOff: () => void }>();
  readonly #sessions = new Map<string, OpenSession<T>>();

  constructor(clock: Pick<Clock, "after">) {
    this.#clock = clock;
  }

  /** Returns a new code for the subject. It can be exchanged once, within `time` milliseconds. */
  newCode(subject: T, time: number = codeTime): string {
    const code = newSecret();
    const digest = digestOf(code);
    const callOff = this.#clock.after(time, () => this.#codes.delete(digest), { background: true });
    this.#codes.set(digest, { subject, callOff });
    const [oldest] = this.#codes.keys();
    if (this.#codes.size > mostCodes && oldest !== undefined) this.#removeCode(oldest);
    return code;
  }

  /** Returns the bearer for a code; undefined if the code is wrong, used or expired, or for another subject. */
  exchange(code: string, isMeant: (subject: T) => boolean): string | undefined {
    const digest = digestOf(code);
    const found = this.#codes.get(digest);
    if (found === undefined || !isMeant(found.subject)) return undefined;
    this.#removeCode(digest);
    const ended = new AbortController();
    const bearer = newSecret();
    this.#sessions.set(digestOf(bearer), {
      subject: found.subject,
      signal: ended.signal,
      end: () => ended.abort(),
    });
    const [[oldest, session] = []] = this.#sessions;
    if (this.#sessions.size > mostSessions && oldest !== undefined) {
      this.#sessions.delete(oldest);
      session?.end();
    }
    return bearer;
  }

  /** Returns the session of the header `Authorization`; undefined if there is none. */
  find(authorization: string | undefined): Session<T> | undefined {
    const [, bearer] = /^Bearer ([\w-]{43})$/.exec(authorization ?? "") ?? [];
    return bearer === undefined ? undefined : this.#sessions.get(digestOf(bearer));
  }

  /** Makes all codes and bearers invalid. */
  close(): void {
    for (const digest of this.#codes.keys()) this.#removeCode(digest);
    for (const session of this.#sessions.values()) session.end();
    this.#sessions.clear();
  }

  #removeCode(digest: string): void {
    this.#codes.get(digest)?.callOff();
    this.#codes.delete(digest);
  }
}

function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

function digestOf(secret: string): string {
  return hash("sha256", secret);
}
