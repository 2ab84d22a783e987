/** The inbox: confirmations of all gateways of a user, which any process can list and answer. */

import { type Clock, systemClock } from "@fairlead/core/clock";
import { HostError } from "@fairlead/core/errors";
import { ensurePrivateFolder, explain, notWritten } from "@fairlead/core/files";
import { toSafeLine } from "@fairlead/core/text/safe-text";
import type { ConsentAnswer } from "./confirmed-request.ts";
import {
  type AnsweredQuestion,
  doneAnswer,
  isAnswered,
  readAnswer,
  useOfAnswer,
  writeAnswer,
} from "./inbox-answers.ts";
import {
  entryFiles,
  type GivenAnswer,
  type InboxEntry,
  inboxFolder,
  isAnswerable,
  readEntry,
  shortKey,
} from "./inbox-folder.ts";
import { onFolderChange, registerWatcher } from "./inbox-watchers.ts";

export { type ConsentAnswer, lateAnswer } from "./confirmed-request.ts";
export type { AnsweredQuestion } from "./inbox-answers.ts";
export type { GivenAnswer, InboxEntry } from "./inbox-folder.ts";

/** A waiting request uses its answer within this many milliseconds, unless its gateway has stopped. */
const useTime = 3000;

/** The clocks that the inbox uses. Default: the system's clocks. */
export interface InboxOptions {
  readonly clock?: Pick<Clock, "after">;
  /** Returns the current time, in milliseconds since 1970. */
  readonly now?: () => number;
}

/** The inbox in a state folder (`~/.fairlead`). */
export class Inbox {
  readonly #folder: string;
  readonly #clock: Pick<Clock, "after">;
  readonly #now: () => number;

  constructor(stateFolder: string, { clock = systemClock, now = Date.now }: InboxOptions = {}) {
    this.#folder = inboxFolder(stateFolder);
    this.#clock = clock;
    this.#now = now;
  }

  /** Returns the unanswered confirmations, oldest first. */
  async list(): Promise<readonly InboxEntry[]> {
    const found: InboxEntry[] = [];
    for (const file of await entryFiles(this.#folder)) {
      if (!(await isAnswerable(this.#folder, file, this.#now())) || (await isAnswered(this.#folder, file))) continue;
      const entry = await readEntry(this.#folder, file);
      // A conversation that has ended asks again itself, so an answer would have no effect.
      const hasEnded = entry?.who !== "client" && entry?.isAwaited === false;
      if (entry !== undefined && !hasEnded) found.push(entry);
    }
    return found;
  }

  /** @throws HostError `not_found` */
  async show(id: string): Promise<InboxEntry> {
    const entry = (await this.list()).find((each) => each.id === id.toUpperCase());
    if (entry === undefined) throw unknown(id);
    return entry;
  }

  /**
   * Answers a confirmation. If its request no longer waits, the next identical request within ten minutes uses the
   * answer, and a yes of any kind allows only this one request.
   *
   * @param by Where the person answers, such as `fairlead approvals`. Shown to a person who answers later.
   * @param shown The confirmation that the person saw. It is not answered if the id belongs to another one by now.
   * @param because Why the person says no. The client's model reads it, if the request still waits.
   * @throws HostError `not_found`
   */
  async answer(
    id: string,
    answer: ConsentAnswer,
    by: string,
    shown?: Pick<InboxEntry, "key">,
    because?: string,
  ): Promise<AnsweredQuestion> {
    const folder = this.#folder;
    const upper = id.toUpperCase();
    const entry = (await entryFiles(folder)).find((each) => each.id === upper);
    if (entry !== undefined && (await isAnswerable(folder, entry, this.#now()))) {
      // The id may belong to another confirmation now, which the person has not seen.
      if (shown !== undefined && shortKey(shown) !== entry.key) throw unknown(id);
      const given = { answer, by, at: this.#now(), because };
      const answered = await writeAnswer(folder, entry, given).catch((error: unknown) => {
        throw notWritten(folder, explain(error), error);
      });
      if (answered === undefined) throw unknown(id);
      return answered;
    }
    const done = await doneAnswer(folder, upper);
    if (done === undefined) throw unknown(id);
    return { ...done, isFirst: false, isAwaited: false };
  }

  /** Returns the answer to a confirmation that is no longer listed; undefined if there is none, or after ten minutes. */
  async answered(id: string): Promise<GivenAnswer | undefined> {
    const folder = this.#folder;
    const upper = id.toUpperCase();
    const entry = (await entryFiles(folder)).find((each) => each.id === upper);
    return (entry && (await readAnswer(folder, entry))) ?? doneAnswer(folder, upper);
  }

  /**
   * Waits at most 3 seconds until a request uses the answer. `outdated`: the answer has no effect, because the tool's
   * definition has changed. `later`: the request no longer waits; `lateAnswer` says what the answer means then.
   */
  async useOf(id: string, { at, isAwaited }: AnsweredQuestion): Promise<"used" | "outdated" | "later"> {
    const find = (): Promise<"used" | "outdated" | undefined> => useOfAnswer(this.#folder, id.toUpperCase(), { at });
    const use = await find();
    if (use !== undefined || !isAwaited) return use ?? "later";
    return new Promise((resolve) => {
      const end = (outcome: "used" | "outdated" | "later"): void => {
        stop();
        callOff();
        resolve(outcome);
      };
      const look = (otherwise?: "later"): void =>
        void find().then(
          (found) => {
            const outcome = found ?? otherwise;
            if (outcome !== undefined) end(outcome);
          },
          () => end("later"),
        );
      // If this process did not run meanwhile, the answer may have been used without a look that saw it.
      const callOff = this.#clock.after(useTime, () => look("later"));
      const stop = onFolderChange(this.#folder, this.#clock, () => look());
      // The answer may have been used before `onFolderChange` started.
      look();
    });
  }

  /** Registers this process as one that shows the inbox. Calls `listener` when the list may have changed. */
  async watch(listener: () => void): Promise<AsyncDisposable> {
    await ensurePrivateFolder(this.#folder);
    const leave = await registerWatcher(this.#folder);
    const stop = onFolderChange(this.#folder, this.#clock, listener);
    return {
      async [Symbol.asyncDispose]() {
        stop();
        await leave();
      },
    };
  }
}

function unknown(id: string): HostError {
  const message = `approval ${toSafeLine(id.slice(0, 20))} not found: it was answered before, or it expired`;
  return new HostError("not_found", message, { next: "fairlead approvals list" });
}
