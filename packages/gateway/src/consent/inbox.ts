/**
 * The inbox of confirmations: lists the confirmations of all gateways of a user, and stores answers from any process.
 */

import { type Clock, systemClock } from "@fairlead/core/clock";
import { HostError } from "@fairlead/core/errors";
import { ensurePrivateFolder } from "@fairlead/core/files/atomic/private-folder";
import { toSafeLine } from "@fairlead/core/text";
import type { ConsentAnswer } from "./confirmed-request.ts";
import { doneAnswer, isAnswered, useOfAnswer, writeAnswer } from "./inbox-answers.ts";
import {
  entryFiles,
  type GivenAnswer,
  type InboxEntry,
  inboxFolder,
  questionTime,
  readEntry,
  shortKey,
} from "./inbox-folder.ts";
import { onFolderChange, registerWatcher } from "./inbox-watchers.ts";

export type { ConsentAnswer } from "./confirmed-request.ts";
export type { GivenAnswer, InboxEntry } from "./inbox-folder.ts";

/** An answer, and whether it was the first one. Only the first answer counts. */
export interface AnsweredQuestion extends GivenAnswer {
  readonly isFirst: boolean;
  /** Whether the request still waited for an answer. */
  readonly isAwaited: boolean;
}

export interface Inbox {
  /** Returns the unanswered confirmations, oldest first. */
  list(): Promise<readonly InboxEntry[]>;
  /** @throws HostError `not_found` */
  show(id: string): Promise<InboxEntry>;
  /**
   * Answers a confirmation. If its request no longer waits, the answer applies to the next identical request within ten
   * minutes.
   *
   * @param by Where the person answers, such as `fairlead approvals`. A person who answers the same confirmation later
   * sees this text.
   * @param shown The confirmation that the person saw. If another confirmation has this id now, it is not answered.
   * @throws HostError `not_found`
   */
  answer(id: string, answer: ConsentAnswer, by: string, shown?: Pick<InboxEntry, "key">): Promise<AnsweredQuestion>;
  /**
   * Waits until the request has used the answer, for at most 3 seconds. Resolves with `outdated` if the answer had no
   * effect, because the tool's definition has changed, and with `later` if no request has used the answer yet: then it
   * applies to the next identical request.
   */
  useOf(id: string, answered: AnsweredQuestion): Promise<"used" | "outdated" | "later">;
  /** Records that this process shows the inbox to a person. Calls a function when `list()` may have changed. */
  watch(listener: () => void): Promise<AsyncDisposable>;
}

/** Milliseconds within which a waiting request uses its answer. After this time, its gateway has probably stopped. */
const useTime = 3000;

export interface InboxOptions {
  readonly clock?: Pick<Clock, "after">;
  /** Returns the current time, in milliseconds since 1970. */
  readonly now?: () => number;
}

/**
 * Opens the inbox.
 * @param stateFolder The state folder, `~/.fairlead`.
 */
export function openInbox(stateFolder: string, { clock = systemClock, now = Date.now }: InboxOptions = {}): Inbox {
  const folder = inboxFolder(stateFolder);

  async function list(): Promise<readonly InboxEntry[]> {
    const found: InboxEntry[] = [];
    for (const file of await entryFiles(folder)) {
      if (file.since + questionTime < now() || (await isAnswered(folder, file))) continue;
      const entry = await readEntry(folder, file);
      if (entry !== undefined) found.push(entry);
    }
    return found;
  }

  return {
    list,
    async show(id) {
      const entry = (await list()).find((each) => each.id === id.toUpperCase());
      if (entry === undefined) throw unknown(id);
      return entry;
    },
    async answer(id, answer, by, shown) {
      const upper = id.toUpperCase();
      const given = { answer, by, at: now() };
      const known = (await entryFiles(folder)).find(
        (entry) => entry.id === upper && entry.since + questionTime >= now(),
      );
      // Another confirmation may have this id now. The person has not seen that confirmation.
      if (known !== undefined && shown !== undefined && shortKey(shown) !== known.key) throw unknown(id);
      const first = known ? await writeAnswer(folder, known, given) : await doneAnswer(folder, upper);
      if (first === undefined) throw unknown(id);
      return { ...first, isFirst: first === given, isAwaited: known?.state === "open" };
    },
    async useOf(id, { at, isAwaited }) {
      const found = (): Promise<"used" | "outdated" | undefined> => useOfAnswer(folder, id.toUpperCase(), { at });
      const use = await found();
      if (use !== undefined || !isAwaited) return use ?? "later";
      return new Promise((resolve) => {
        const end = (outcome: "used" | "outdated" | "later"): void => {
          stop();
          callOff();
          resolve(outcome);
        };
        const look = (): void =>
          void found().then(
            (outcome) => outcome && end(outcome),
            () => end("later"),
          );
        const callOff = clock.after(useTime, () => end("later"));
        const stop = onFolderChange(folder, clock, look);
        // A request may have used the answer before `onFolderChange` was called.
        look();
      });
    },
    async watch(listener) {
      await ensurePrivateFolder(folder);
      const leave = await registerWatcher(folder);
      const stop = onFolderChange(folder, clock, listener);
      return {
        async [Symbol.asyncDispose]() {
          stop();
          await leave();
        },
      };
    },
  };
}

function unknown(id: string): HostError {
  return new HostError(
    "not_found",
    `approval ${toSafeLine(id.slice(0, 20))} not found: it was answered before, or it expired`,
    {
      next: "fairlead approvals list",
    },
  );
}
