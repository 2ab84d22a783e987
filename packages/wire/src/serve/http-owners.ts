/**
 * The sessions, requests and streams of each owner, with limits for each. An owner is the name that `admit` gives to a
 * client.
 */

import { randomBytes } from "node:crypto";
import type { HttpLimits } from "./http-limits.ts";
import { createHttpSession, type HttpSession } from "./http-session.ts";
import type { PostAnswer } from "./post-answer.ts";
import { UnreadResponses } from "./unread-responses.ts";

interface OpenSession {
  readonly session: HttpSession;
  readonly requests: Count;
  usedAt: number;
}

/** The number of open requests or streams. */
interface Count {
  open: number;
}

/** The open sessions, requests and streams of one owner. */
export interface HttpOwner {
  /**
   * Opens a session. At the limit, ends an idle session first, or returns undefined if none is idle. Default: a new id
   * that cannot be guessed.
   */
  createSession(id?: string): { readonly id: string; readonly session: HttpSession } | undefined;
  findSession(id: string): HttpSession | undefined;
  /**
   * Counts a stream or a request as open until the returned function is called. Undefined if the limit is reached.
   * Requests of a session count for this session, so that other sessions do not wait for them.
   */
  enter(kind: "requests" | "streams", sessionId?: string): (() => void) | undefined;
  /** The open responses to modern requests, which have no session. */
  readonly answers: Set<PostAnswer>;
  readonly unread: UnreadResponses;
}

/** All owners of one listener. An owner is created when it is first used. */
export interface HttpOwners {
  get(name: string): HttpOwner;
  /** Returns the sessions with this id. Only processes that share sessions have several, of different owners. */
  sessionsWith(id: string): readonly HttpSession[];
  /**
   * Writes a comment to each open stream, to keep its connection open. Ends idle sessions that were last used before
   * `before`.
   */
  sweep(before: number): void;
  /** Ends all streams of sessions. */
  endStreams(): void;
  end(): void;
}

type OwnerLimits = Pick<HttpLimits, "sessions" | "requests" | "ownerRequests" | "streams" | "unsentBytes">;

/**
 * Creates an empty list of owners.
 * @param now Returns the current time, in milliseconds.
 * @param process The name of this process, if several share sessions.
 */
export function createHttpOwners(limits: OwnerLimits, now: () => number, process?: string): HttpOwners {
  const owners = new Map<string, ReturnType<typeof createOwner>>();

  function createOwner() {
    /** The session that was unused for the longest time comes first. */
    const sessions = new Map<string, OpenSession>();
    const counts = { requests: { open: 0 }, streams: { open: 0 } };
    const allRequests: Count = { open: 0 };
    const unread = new UnreadResponses(limits.unsentBytes);

    return {
      sessions,
      unread,
      isUnused: () => sessions.size === 0 && allRequests.open === 0 && counts.streams.open === 0,
      answers: new Set<PostAnswer>(),
      createSession(id = randomBytes(16).toString("hex")) {
        if (sessions.size >= limits.sessions) {
          const idle = [...sessions.values()].find(({ session }) => session.isIdle());
          if (idle === undefined) return undefined;
          idle.session.end();
        }
        const session = createHttpSession(unread, () => void sessions.delete(id), process);
        sessions.set(id, { session, requests: { open: 0 }, usedAt: now() });
        return { id, session };
      },
      findSession(id: string) {
        const found = sessions.get(id);
        if (found === undefined) return undefined;
        sessions.delete(id);
        sessions.set(id, found);
        found.usedAt = now();
        return found.session;
      },
      enter(kind: "requests" | "streams", sessionId?: string) {
        const session = sessionId === undefined ? undefined : sessions.get(sessionId);
        const count = kind === "requests" && session !== undefined ? session.requests : counts[kind];
        const all = kind === "requests" ? allRequests : { open: 0 };
        if (count.open >= limits[kind] || all.open >= limits.ownerRequests) return undefined;
        count.open += 1;
        all.open += 1;
        return () => {
          count.open -= 1;
          all.open -= 1;
        };
      },
    };
  }

  return {
    get(name) {
      const found = owners.get(name) ?? createOwner();
      owners.set(name, found);
      return found;
    },
    sessionsWith: (id) => [...owners.values()].flatMap(({ sessions }) => sessions.get(id)?.session ?? []),
    sweep(before) {
      for (const [name, { sessions, answers, isUnused }] of owners) {
        for (const answer of answers) answer.keepAlive();
        for (const open of sessions.values()) {
          open.session.keepAlive();
          if (!open.session.isIdle()) open.usedAt = now();
          else if (open.usedAt < before) open.session.end();
        }
        if (isUnused()) owners.delete(name);
      }
    },
    endStreams() {
      for (const { sessions } of owners.values()) for (const { session } of sessions.values()) session.endStream();
    },
    end() {
      for (const { sessions, answers } of owners.values()) {
        for (const { session } of sessions.values()) session.end();
        for (const answer of answers) answer.abandon();
      }
    },
  };
}
