/** The open confirmations of one gateway, stored in the inbox so that a person can answer them in several places. */

import type { Clock } from "@fairlead/core/clock";
import type { ConsentAnswer, ConsentQuestion } from "./confirmed-request.ts";
import { readAnswer, useAnswer, writeAnswer } from "./inbox-answers.ts";
import {
  entryFiles,
  type GivenAnswer,
  grantTime,
  inboxFolder,
  makeLate,
  removeEntry,
  shortKey,
  writeEntry,
} from "./inbox-folder.ts";
import { hasWatcher, onFolderChange } from "./inbox-watchers.ts";

/** A confirmation while its request waits. */
export interface OpenQuestion {
  readonly id: string;
  /** Resolves with the first answer, wherever the person gave it. Never rejects. */
  readonly answered: Promise<GivenAnswer>;
  /**
   * Stores an answer, unless there already is one. Returns the first answer. Returns undefined if the confirmation no
   * longer exists.
   */
  answer(answer: ConsentAnswer, by: string): Promise<GivenAnswer | undefined>;
  /** Stops waiting. Returns the answer if there is one now. A later answer applies to the next identical request. */
  leave(): Promise<GivenAnswer | undefined>;
  /** Removes the confirmation, because its request was cancelled. */
  withdraw(): Promise<void>;
}

export interface OpenQuestions {
  /**
   * Returns the answer that a person gave too late for an earlier identical request. The answer cannot be used again.
   * Returns undefined if there is none.
   */
  takeLate(question: ConsentQuestion): Promise<GivenAnswer | undefined>;
  /**
   * Opens a confirmation.
   * @param isOutdated Returns whether a yes has no effect, because the tool's definition has changed.
   * @throws Error if the inbox cannot be written, or is full
   */
  ask(question: ConsentQuestion, isOutdated?: () => boolean): Promise<OpenQuestion>;
  /** Whether some process shows the inbox to a person. */
  isWatched(): Promise<boolean>;
  close(): void;
}

export function createOpenQuestions(
  stateFolder: string,
  { clock, now }: { readonly clock: Pick<Clock, "after">; readonly now: () => number },
): OpenQuestions {
  const folder = inboxFolder(stateFolder);
  const live = new Map<string, () => Promise<GivenAnswer | undefined>>();
  let stopWatching: (() => void) | undefined;

  function watch(): void {
    stopWatching ??= onFolderChange(folder, clock, () => {
      for (const check of live.values()) void check();
    });
  }

  function forget(id: string): void {
    live.delete(id);
    if (live.size > 0) return;
    stopWatching?.();
    stopWatching = undefined;
  }

  return {
    async takeLate(question) {
      const key = shortKey(question);
      for (const entry of await entryFiles(folder)) {
        if (entry.key !== key || live.has(entry.id)) continue;
        const given = await readAnswer(folder, entry);
        if (given === undefined || !(await useAnswer(folder, entry, given))) continue;
        if (given.at + grantTime >= now()) return given;
      }
      return undefined;
    },
    async ask(question, isOutdated = () => false) {
      const entry = await writeEntry(folder, question, now(), new Set(live.keys()));
      const { id } = entry;
      let settle: (given: GivenAnswer) => void = () => {};
      const answered = new Promise<GivenAnswer>((resolve) => {
        settle = resolve;
      });
      /** The answer that this request has used. */
      let used: GivenAnswer | undefined;
      /** Whether this request no longer waits. A later answer then applies to the next identical request. */
      let isLeft = false;
      let checking: Promise<GivenAnswer | undefined> = Promise.resolve(undefined);

      async function look(): Promise<GivenAnswer | undefined> {
        if (used !== undefined || isLeft) return used;
        const given = await readAnswer(folder, entry);
        if (given === undefined) return undefined;
        const hasNoEffect = given.answer !== "no" && isOutdated();
        if (!(await useAnswer(folder, entry, given, hasNoEffect))) return undefined;
        used = given;
        forget(id);
        settle(given);
        return given;
      }

      /** Looks for an answer in the inbox, one read at a time. Returns undefined if the inbox cannot be read. */
      function check(): Promise<GivenAnswer | undefined> {
        checking = checking.then(look, look);
        return checking.catch(() => undefined);
      }

      live.set(id, check);
      watch();
      // An answer may have been stored before `watch` was called.
      void check();
      return {
        id,
        answered,
        async answer(answer, by) {
          const first = await writeAnswer(folder, entry, { answer, by, at: now() });
          return (await check()) ?? first;
        },
        async leave() {
          const last = check().then((given) => {
            isLeft = given === undefined;
            return given;
          });
          // Later reads of the inbox must wait until this read has set `isLeft`.
          checking = last;
          const given = await last;
          forget(id);
          if (given === undefined) await makeLate(folder, entry);
          return given;
        },
        async withdraw() {
          isLeft = true;
          forget(id);
          await removeEntry(folder, entry);
        },
      };
    },
    isWatched: () => hasWatcher(folder),
    close() {
      stopWatching?.();
      live.clear();
    },
  };
}
