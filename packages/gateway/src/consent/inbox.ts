/** The inbox: confirmations of all gateways of a user, which any process can list and answer. */

import { type Clock, systemClock } from "@fairlead/core/clock";
import { HostError } from "@fairlead/core/errors";
import { ensurePrivateFolder } from "@fairlead/core/files/atomic/private-folder";
import { explain, notWritten } from "@fairlead/core/files/system-error";
import { toSafeLine } from "@fairlead/core/text";
import type { ConsentAnswer } from "./confirmed-request.ts";
import { type AnsweredQuestion, doneAnswer, isAnswered, useOfAnswer, writeAnswer } from "./inbox-answers.ts";
import { entryFiles, type InboxEntry, inboxFolder, isAnswerable, readEntry, shortKey } from "./inbox-folder.ts";
import { onFolderChange, registerWatcher } from "./inbox-watchers.ts";

export { type ConsentAnswer, lateAnswer } from "./confirmed-request.ts";
export type { AnsweredQuestion } from "./inbox-answers.ts";
export type { GivenAnswer, InboxEntry } from "./inbox-folder.ts";

export interface Inbox {
  /** Returns the unanswered confirmations, oldest first. */
  list(): Promise<readonly InboxEntry[]>;
  /** @throws HostError `not_found` */
  show(id: string): Promise<InboxEntry>;
  /**
   * Answers a confirmation. If its request no longer waits, the next identical request within ten minutes uses the
   * answer, and a yes of any kind allows only this one request.
   *
   * @param by Where the person answers, such as `fairlead approvals`. Shown to a person who answers later.
   * @param shown The confirmation that the person saw. It is not answered if the id belongs to another one by now.
   * @param because Why the person says no. The client's model reads it, if the request still waits.
   * @throws HostError `not_found`
   */
  answer(
    id: string,
    answer: ConsentAnswer,
    by: string,
    shown?: Pick<InboxEntry, "key">,
    because?: string,
  ): Promise<AnsweredQuestion>;
  /**
   * Waits at most 3 seconds until a request uses the answer. `outdated`: the answer has no effect, because the tool's
   * definition has changed. `later`: the request no longer waits; `lateAnswer` says what the answer means then.
   */
  useOf(id: string, answered: AnsweredQuestion): Promise<"used" | "outdated" | "later">;
  /** Registers this process as one that shows the inbox. Calls `listener` when the list may have changed. */
  watch(listener: () => void): Promise<AsyncDisposable>;
}

/** A waiting request uses its answer within this many milliseconds, unless its gateway has stopped. */
const useTime = 3000;

/** The clocks that the inbox uses. Default: the system's clocks. */
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
      if (!(await isAnswerable(folder, file, now())) || (await isAnswered(folder, file))) continue;
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
    async answer(id, answer, by, shown, because) {
      const upper = id.toUpperCase();
      const found = (await entryFiles(folder)).find((entry) => entry.id === upper);
      const entryFile = found && (await isAnswerable(folder, found, now())) ? found : undefined;
      // The id may belong to another confirmation now, which the person has not seen.
      if (entryFile !== undefined && shown !== undefined && shortKey(shown) !== entryFile.key) throw unknown(id);
      if (entryFile !== undefined) {
        const answered = await writeAnswer(folder, entryFile, { answer, by, at: now(), because }).catch(
          (error: unknown) => {
            throw notWritten(folder, explain(error), error);
          },
        );
        if (answered === undefined) throw unknown(id);
        return answered;
      }
      const done = await doneAnswer(folder, upper);
      if (done === undefined) throw unknown(id);
      return { ...done, isFirst: false, isAwaited: false };
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
        const look = (otherwise?: "later"): void =>
          void found().then(
            (use) => {
              const outcome = use ?? otherwise;
              if (outcome !== undefined) end(outcome);
            },
            () => end("later"),
          );
        // If this process did not run meanwhile, the answer may have been used without a look that saw it.
        const callOff = clock.after(useTime, () => look("later"));
        const stop = onFolderChange(folder, clock, () => look());
        // The answer may have been used before `onFolderChange` started.
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
