/** Who may use a console: one-time codes in addresses, and the bearers that pages get for them. */

import { hash, randomBytes } from "node:crypto";
import { setMaxListeners } from "node:events";
import type { Clock } from "@fairlead/core/clock";

/** Maximum numbers for one subject. One more ends the oldest: each is a window that a person has opened. */
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
  newCode(subject: T, time: number): string {
    const code = newSecret();
    const digest = digestOf(code);
    const callOff = this.#clock.after(time, () => this.#codes.delete(digest), { background: true });
    this.#codes.set(digest, { subject, callOff });
    const [oldest, ...others] = this.#codesOf(subject);
    if (oldest !== undefined && others.length >= mostCodes) this.#removeCode(oldest);
    return code;
  }

  /** Returns the bearer for a code; undefined if the code is wrong, used or expired, or for another subject. */
  exchange(code: string, subject: T): string | undefined {
    const digest = digestOf(code);
    if (this.#codes.get(digest)?.subject !== subject) return undefined;
    this.#removeCode(digest);
    const ended = new AbortController();
    // Each stream and each running command of the session listens.
    setMaxListeners(0, ended.signal);
    const bearer = newSecret();
    this.#sessions.set(digestOf(bearer), { subject, signal: ended.signal, end: () => ended.abort() });
    const [oldest, ...others] = this.#sessionsOf(subject);
    if (oldest !== undefined && others.length >= mostSessions) this.#endSession(oldest);
    return bearer;
  }

  /** Returns the session of the header `Authorization`; undefined if there is none. */
  find(authorization: string | undefined): Session<T> | undefined {
    const [, bearer] = /^Bearer ([\w-]{43})$/.exec(authorization ?? "") ?? [];
    return bearer === undefined ? undefined : this.#sessions.get(digestOf(bearer));
  }

  /** Makes the codes and bearers of the subject invalid. */
  end(subject: T): void {
    for (const digest of this.#codesOf(subject)) this.#removeCode(digest);
    for (const digest of this.#sessionsOf(subject)) this.#endSession(digest);
  }

  /** The codes of a subject, oldest first. */
  #codesOf(subject: T): readonly string[] {
    return [...this.#codes].flatMap(([digest, code]) => (code.subject === subject ? [digest] : []));
  }

  #sessionsOf(subject: T): readonly string[] {
    return [...this.#sessions].flatMap(([digest, session]) => (session.subject === subject ? [digest] : []));
  }

  #removeCode(digest: string): void {
    this.#codes.get(digest)?.callOff();
    this.#codes.delete(digest);
  }

  #endSession(digest: string): void {
    this.#sessions.get(digest)?.end();
    this.#sessions.delete(digest);
  }
}

function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

function digestOf(secret: string): string {
  return hash("sha256", secret);
}
