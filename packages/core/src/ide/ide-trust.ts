/**
 * Asks the IDE whether it trusts a folder, and follows its answer. The IDE's companion, an extension of Gemini CLI, is an
 * MCP server on this machine that reports it.
 */

import { readdir } from "node:fs/promises";
import { type Clock, sleep, systemClock } from "../clock.ts";
import { isInside } from "../files/real-path.ts";
import type { Environment } from "../settings/read/paths.ts";
import type { IdeReport } from "../trust/trust-decision.ts";
import type { Companion } from "./companion.ts";
import { ideVariables, portFolder, processOf } from "./port-file.ts";

/** What the IDE reports about its window. One connection serves all questions. */
export interface IdeTrust {
  /**
   * What the IDE reports about a folder. Undefined if there is no companion for the folder, if it says nothing, or if it
   * has not answered within one second after the first question.
   *
   * @param root The real path of the folder.
   */
  report(root: string): Promise<IdeReport | undefined>;
  /** Calls the listener when a report would differ from the last one. There is one listener. */
  onChange(listener: () => void): void;
  /** Ends the connection. The next question opens a new one. */
  stop(): Promise<undefined>;
  /** Ends the connection for good. */
  close(): Promise<void>;
}

/** Options of `createIdeTrust`. */
export interface IdeTrustOptions {
  readonly environment: Pick<Environment, "env" | "platform">;
  /**
   * Whether the IDE may be found as a parent of this process. False for a process that works for programs in other
   * terminals: only their environment counts. Default: true.
   */
  readonly isInTerminal?: boolean;
  readonly clock?: Clock;
}

/** The longest time that the first question waits, in milliseconds. */
const answerTime = 1_000;
/** How long to wait before a lost companion is looked for again, in milliseconds. Each wait is longer than the last. */
const retryTimes = { first: 2_000, longest: 60_000 };
/** A companion whose report changes more often than this in a minute is disconnected: each change reloads the host. */
const mostChanges = 20;
const changeTime = 60_000;

/** Creates the connection to the IDE. Looks for no companion before the first question. */
export function createIdeTrust({ environment, isInTerminal = true, clock = systemClock }: IdeTrustOptions): IdeTrust {
  let link: Link | undefined;
  let listener = (): void => {};
  let isClosed = false;

  const isEnded = (): boolean => isClosed;

  async function stop(): Promise<undefined> {
    const ended = link;
    link = undefined;
    await ended?.close();
    return undefined;
  }

  return {
    async report(root) {
      if (isClosed || !(link || (await hasCompanion(environment)))) return undefined;
      // The host may have been closed meanwhile.
      if (isEnded()) return undefined;
      link ??= createLink({ root, environment, isInTerminal, clock, onChange: () => listener() });
      return link.report(root);
    },
    onChange(given) {
      listener = given;
    },
    stop,
    async close() {
      isClosed = true;
      await stop();
    },
  };
}

/** Whether it is worth looking for a companion. Reads one folder, so that commands without an IDE stay fast. */
async function hasCompanion(environment: IdeTrustOptions["environment"]): Promise<boolean> {
  if (environment.env[ideVariables.port]) return true;
  const names = await readdir(portFolder(environment)).catch((): string[] => []);
  return names.some((name) => processOf(name) !== undefined);
}

interface LinkOptions extends Required<IdeTrustOptions> {
  /** The folder that the first question is about. */
  readonly root: string;
  readonly onChange: () => void;
}

interface Link {
  report(root: string): Promise<IdeReport | undefined>;
  close(): Promise<void>;
}

/** Connects to the companion of a folder. After a lost connection, looks for the companion again. */
function createLink({ root: firstRoot, environment, isInTerminal, clock, onChange }: LinkOptions): Link {
  const closing = new AbortController();
  let companion: Companion | undefined;
  let pause = retryTimes.first;
  let changes = 0;
  let changesSince = 0;
  let openedAt = 0;
  /** What the companion had reported when the last question was answered. */
  let last: boolean | undefined;
  let isAnswered = false;
  /** Whether the last attempt has found no companion for the folder. */
  let isVain = false;
  /** Whether a companion has ever been connected. When a window is loaded anew, its port file is gone for a while. */
  let hasConnected = false;
  let callOffRetry = (): void => {};
  let deadline = clock.now() + answerTime;
  let attempt = connect();

  /** Resolves when the companion has made its first report, or when no companion can be reached. Never rejects. */
  async function connect(): Promise<void> {
    const [{ findCompanions }, { openCompanion }] = await Promise.all([
      import("./find-companions.ts"),
      import("./companion.ts"),
    ]);
    const found = await findCompanions(firstRoot, { environment, isInTerminal });
    isVain = found.length === 0;
    for (const address of found) {
      const options = { signal: closing.signal, onReport: tell, onEnd: lose };
      companion = await openCompanion(address, options).catch(() => undefined);
      if (companion === undefined) continue;
      hasConnected = true;
      openedAt = clock.now();
      await companion.firstReport;
      return tell();
    }
    if (hasConnected || !isVain) retryLater();
  }

  /** Tells the listener if the last answer is outdated. */
  function tell(): void {
    const isTrusted = companion?.isTrusted();
    if (!isAnswered || isTrusted === last || closing.signal.aborted) return;
    last = isTrusted;
    if (clock.now() - changesSince > changeTime) {
      changesSince = clock.now();
      changes = 0;
    }
    changes += 1;
    if (changes > mostChanges) void companion?.close();
    onChange();
  }

  function lose(): void {
    companion = undefined;
    // A companion that has lasted was not the reason for the earlier waits.
    if (clock.now() - openedAt > changeTime) pause = retryTimes.first;
    retryLater();
    tell();
  }

  function retryLater(): void {
    if (closing.signal.aborted) return;
    const retry = (): void => {
      attempt = connect();
    };
    callOffRetry = clock.after(pause, retry, { background: true });
    pause = Math.min(2 * pause, retryTimes.longest);
  }

  function current(root: string): IdeReport | undefined {
    const isTrusted = companion?.isTrusted();
    if (companion === undefined || isTrusted === undefined) return undefined;
    const { port, folders } = companion.address;
    return folders.some((folder) => isInside(root, folder)) ? { isTrusted, port } : undefined;
  }

  return {
    async report(root) {
      if (isVain && !hasConnected) {
        isVain = false;
        deadline = clock.now() + answerTime;
        attempt = connect();
      }
      const timeLeft = deadline - clock.now();
      const waiting = new AbortController();
      if (timeLeft > 0) await Promise.race([attempt, sleep(clock, timeLeft, waiting.signal).catch(() => undefined)]);
      waiting.abort();
      isAnswered = true;
      last = companion?.isTrusted();
      return current(root);
    },
    async close() {
      const open = companion;
      closing.abort();
      callOffRetry();
      await Promise.all([open?.close(), attempt]);
    },
  };
}
