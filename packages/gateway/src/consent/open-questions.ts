/** The confirmations that one gateway waits for. They are stored in the inbox, so that a person can answer anywhere. */

import { type Clock, isRecent } from "@fairlead/core/clock";
import { type ConsentAnswer, type ConsentQuestion, lateAnswer } from "./confirmed-request.ts";
import { type AnsweredQuestion, readAnswer, useAnswer, writeAnswer } from "./inbox-answers.ts";
import {
  entryFiles,
  type GivenAnswer,
  grantTime,
  inboxFolder,
  isAwaited,
  makeLate,
  removeEntry,
  shortKey,
  writeEntry,
} from "./inbox-folder.ts";
import { hasWatcher, onFolderChange } from "./inbox-watchers.ts";

/** A confirmation whose request is waiting. */
export interface OpenQuestion {
  readonly id: string;
  /** Resolves with the first answer from any place. Never rejects. */
  readonly answered: Promise<GivenAnswer>;
  /**
   * Stores an answer, unless there already is one. Returns the answer that counts, or undefined if the confirmation no
   * longer exists.
   *
   * @param because Why the person says no.
   */
  answer(answer: ConsentAnswer, by: string, because?: string): Promise<AnsweredQuestion | undefined>;
  /** Stops waiting. Returns the answer if it has just arrived. The next identical request uses a later answer. */
  leave(): Promise<GivenAnswer | undefined>;
  /** Removes the confirmation, because its request was cancelled. */
  withdraw(): Promise<void>;
}

/** Stores confirmations of one gateway and waits for their answers. Watches the inbox only while one is open. */
export class OpenQuestions {
  /** The folder of the inbox. */
  readonly folder: string;
  readonly #clock: Pick<Clock, "after">;
  readonly #now: () => number;
  /** Looks for the answer to each open confirmation. */
  readonly #live = new Map<string, () => Promise<GivenAnswer | undefined>>();
  #stopWatching: (() => void) | undefined;

  constructor(stateFolder: string, clock: Pick<Clock, "after">, now: () => number) {
    this.folder = inboxFolder(stateFolder);
    this.#clock = clock;
    this.#now = now;
  }

  /**
   * Returns the answer to an earlier identical request that no longer waits for it: its call has ended, or its gateway
   * has. Each answer can be used once, for ten minutes.
   */
  async takeLate(question: ConsentQuestion): Promise<ReturnType<typeof lateAnswer> | undefined> {
    const { folder } = this;
    const key = shortKey(question);
    for (const entry of await entryFiles(folder)) {
      if (entry.key !== key || (await isAwaited(folder, entry))) continue;
      const given = await readAnswer(folder, entry);
      if (given === undefined || !(await useAnswer(folder, entry, given))) continue;
      if (isRecent(given.at, grantTime, this.#now())) return lateAnswer(given.answer);
    }
    return undefined;
  }

  /**
   * Stores a confirmation and waits for its answer.
   * @param isOutdated Whether the tool's definition has changed since this call. A yes then has no effect.
   * @throws Error if the inbox cannot be written, or is full
   */
  async ask(question: ConsentQuestion, isOutdated: () => boolean = () => false): Promise<OpenQuestion> {
    const { folder } = this;
    const entry = await writeEntry(folder, question, this.#now());
    const { id } = entry;
    let settle: (given: GivenAnswer) => void = () => {};
    const answered = new Promise<GivenAnswer>((resolve) => {
      settle = resolve;
    });
    let used: GivenAnswer | undefined;
    /** Whether the request no longer waits, so that it must not use an answer. */
    let isLeft = false;
    let checking: Promise<GivenAnswer | undefined> = Promise.resolve(undefined);

    const look = async (): Promise<GivenAnswer | undefined> => {
      if (used !== undefined || isLeft) return used;
      const given = await readAnswer(folder, entry);
      if (given === undefined) return undefined;
      const hasNoEffect = given.answer !== "no" && isOutdated();
      if (!(await useAnswer(folder, entry, given, hasNoEffect))) return undefined;
      used = given;
      this.#forget(id);
      settle(given);
      return given;
    };

    /** Looks for an answer. Checks run one after the other. Returns undefined if the inbox cannot be read. */
    function check(): Promise<GivenAnswer | undefined> {
      checking = checking.then(look, look);
      return checking.catch(() => undefined);
    }

    this.#live.set(id, check);
    this.#watch();
    // The answer may have been stored before `#watch` started.
    void check();
    return {
      id,
      answered,
      answer: async (answer, by, because) => {
        const first = await writeAnswer(folder, entry, { answer, by, at: this.#now(), because });
        const given = await check();
        if (given !== undefined) return { ...given, isFirst: first?.isFirst === true, isAwaited: true };
        return first && isLeft ? { ...first, answer: lateAnswer(first.answer), isAwaited: false } : first;
      },
      leave: async () => {
        const last = check().then((given) => {
          isLeft = given === undefined;
          return given;
        });
        // Later checks must wait until this one has set `isLeft`.
        checking = last;
        const given = await last;
        this.#forget(id);
        if (given === undefined) await makeLate(folder, entry);
        return given;
      },
      withdraw: async () => {
        isLeft = true;
        this.#forget(id);
        await removeEntry(folder, entry);
      },
    };
  }

  /** Whether a process, such as the app, shows the inbox to a person. */
  isWatched(): Promise<boolean> {
    return hasWatcher(this.folder);
  }

  close(): void {
    this.#stopWatching?.();
    this.#live.clear();
  }

  #watch(): void {
    this.#stopWatching ??= onFolderChange(this.folder, this.#clock, () => {
      for (const check of this.#live.values()) void check();
    });
  }

  #forget(id: string): void {
    this.#live.delete(id);
    if (this.#live.size > 0) return;
    this.#stopWatching?.();
    this.#stopWatching = undefined;
  }
}
