/** After a failed token refresh, makes all processes wait before the next one. */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { isObject, textIn } from "@fairlead/wire/json";
import { type ErrorCode, HostError } from "../../errors.ts";
import { readState, updateState } from "../../files/atomic/state-file.ts";

/** The pauses after failed refreshes. `name` identifies the stored tokens. */
export interface RefreshPauses {
  /** Returns the error of the last refresh during the pause after it, otherwise undefined. */
  readonly errorOf: (name: string) => Promise<HostError | undefined>;
  /**
   * @param took How long the failed refresh took, in milliseconds. Up to the maximum, the pause is at least as long,
   * because a slow server should get few requests.
   */
  readonly begin: (name: string, error: HostError, took: number) => Promise<void>;
  readonly end: (name: string) => Promise<void>;
}

interface Pause {
  readonly until: number;
  readonly tries: number;
  readonly error: HostError;
}

const first = 1_000;
const longest = 60_000;
/** The error codes of a failed refresh. A file with another code is ignored. */
const codes: readonly ErrorCode[] = ["unreachable", "http_status", "auth_failed"];

/** Creates the pauses, which last at most 60 s. A file next to the lock file tells other processes about a pause. */
export function createRefreshPauses(folder: string, now: () => number, random: () => number): RefreshPauses {
  const own = new Map<string, Pause>();
  const fileOf = (name: string): string => join(folder, `${name}.failed.json`);

  /** Also returns a pause that has ended, because the next one becomes longer. */
  async function last(name: string): Promise<Pause | undefined> {
    const mine = own.get(name);
    if (mine !== undefined && now() < mine.until) return mine;
    // If the file cannot be read, Fairlead only sends one more refresh request.
    const theirs = await readState(fileOf(name), parsePause).catch(() => undefined);
    return theirs !== undefined && Math.abs(theirs.until - now()) <= longest ? theirs : mine;
  }

  return {
    async errorOf(name) {
      const pause = await last(name);
      return pause !== undefined && now() < pause.until ? pause.error : undefined;
    },
    async begin(name, error, took) {
      const tries = ((await last(name))?.tries ?? 0) + 1;
      const growing = first * 2 ** (tries - 1) * (0.5 + random() / 2);
      const until = now() + Math.min(Math.max(growing, took), longest * (0.5 + random() / 2));
      const pause = { until, tries, error };
      own.set(name, pause);
      await updateState<object>(
        fileOf(name),
        () => ({}),
        () => noteOf(pause),
      ).catch(() => undefined);
    },
    async end(name) {
      own.delete(name);
      await rm(fileOf(name)).catch(() => undefined);
    },
  };
}

function noteOf({ until, tries, error: { code, message, serverName, next } }: Pause): object {
  return { until, tries, code, message, serverName, next };
}

function parsePause(value: unknown): Pause | undefined {
  if (!isObject(value)) return undefined;
  const { until, tries } = value;
  const code = codes.find((one) => one === value["code"]);
  const message = textIn(value, "message");
  if (typeof until !== "number" || typeof tries !== "number" || code === undefined || message === undefined)
    return undefined;
  const facts = { serverName: textIn(value, "serverName"), next: textIn(value, "next") };
  return { until, tries, error: new HostError(code, message, facts) };
}
