import { type Clock, HostError } from "@fairlead/core";
import { type Bound, decryptRow, encryptRow } from "../encryption.ts";
import type { Grant, GrantKey, GrantStore, NewGrant, RefreshResult } from "../grants.ts";
import { grantHint, type Hints } from "../hints.ts";
import type { KeyRing } from "../key-ring.ts";
import type { Owner } from "../owner.ts";
import { isStoreAway } from "../store.ts";
import { lockIdOf, type RunStatement } from "./database.ts";
import type { DirectConnection } from "./direct-connection.ts";
import { boundedText, keyDigest, keyText, ownerValues, toTime } from "./values.ts";

/**
 * The most refreshes of a replica at a time. If it is killed, the issuer may have replaced the tokens of so many users,
 * and no replica has the new ones.
 */
const mostRefreshes = 4;
/** Milliseconds after which a waiting replica reads again, if no hint came. */
const pollTime = 250;
/** Milliseconds between two attempts to store what the issuer has given, and for how long they are made. */
const storing = { pause: 100, longest: 30_000 } as const;

interface GrantRow {
  readonly tenant: number;
  readonly principal: string;
  readonly server: string;
  readonly pin: string;
  readonly issuer: string;
  readonly generation: string;
  readonly encrypted: Buffer;
  readonly expires_at: Date | null;
  readonly refused_at: Date | null;
  readonly pause_until: Date | null;
  readonly is_paused: boolean;
}

const columns = "*, coalesce(pause_until > now(), false) as is_paused";
const isKey = "tenant = $1 and principal = $2 and server = $3 and pin = $4";

export class PostgresGrants implements GrantStore {
  readonly #run: RunStatement;
  readonly #direct: DirectConnection;
  readonly #ring: KeyRing;
  readonly #hints: Hints;
  readonly #clock: Clock;
  /** The refreshes of this replica, by `grantHint`. The same connection would get the lock of one of them again. */
  readonly #refreshing = new Map<string, Promise<unknown>>();
  /** Refreshes that wait until fewer than `mostRefreshes` run. */
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #isClosed = false;

  constructor(run: RunStatement, direct: DirectConnection, ring: KeyRing, hints: Hints, clock: Clock) {
    this.#run = run;
    this.#direct = direct;
    this.#ring = ring;
    this.#hints = hints;
    this.#clock = clock;
  }

  async read(key: GrantKey): Promise<Grant | undefined> {
    return (await this.#read(key))?.grant;
  }

  async save(key: GrantKey, grant: NewGrant): Promise<Grant> {
    const [row] = await this.#run<GrantRow>(
      `insert into grants (tenant, principal, server, pin, issuer, encrypted, expires_at) values ($1, $2, $3, $4, $5, $6, $7)
        on conflict (tenant, principal, server, pin) do update set issuer = excluded.issuer,
          encrypted = excluded.encrypted, expires_at = excluded.expires_at, refused_at = null, pause_until = null,
          generation = nextval('grant_generations')
        returning ${columns}`,
      [...keyValues(key), ...this.#grantValues(key, grant)],
    );
    this.#hints.send("grant", grantHint(key));
    return toGrant(row, grant.secret);
  }

  async remove(key: GrantKey): Promise<boolean> {
    const rows = await this.#run(`delete from grants where ${isKey} returning generation`, keyValues(key));
    if (rows.length > 0) this.#hints.send("grant", grantHint(key));
    return rows.length > 0;
  }

  async list(owner: Owner): Promise<readonly Grant[]> {
    const statement = `select ${columns} from grants where tenant = $1 and principal = $2 order by server, pin`;
    const rows = await this.#run<GrantRow>(statement, ownerValues(owner));
    return rows.flatMap((row) => this.#toReadable(row)?.grant ?? []);
  }

  async refresh(
    key: GrantKey,
    stale: number,
    refresh: (grant: Grant) => Promise<RefreshResult>,
    signal: AbortSignal,
  ): Promise<Grant | undefined> {
    const id = grantHint(key);
    for (;;) {
      signal.throwIfAborted();
      const found = await this.#read(key);
      if (found === undefined || !needsRefresh(found, stale)) return found?.grant;
      const own = this.#refreshing.get(id);
      if (own !== undefined) {
        await unlessAborted(own, signal);
        continue;
      }
      // The waiting begins before the attempt, so that no hint between the two is missed.
      const change = this.#change(id, signal);
      try {
        const work = this.#refreshAlone(key, stale, refresh);
        const ended = work.then(
          () => this.#refreshing.delete(id),
          () => this.#refreshing.delete(id),
        );
        this.#refreshing.set(id, ended);
        // A refresh that has begun goes on without its caller: the issuer may have replaced the token already.
        if (await unlessAborted(work, signal)) return await this.read(key);
        await change.promise;
      } finally {
        change.stop();
      }
    }
  }

  /** Waits for the refreshes that run. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#refreshing.values());
  }

  /** Refreshes with the lock of the grant. Returns false if another replica has it. */
  async #refreshAlone(
    key: GrantKey,
    stale: number,
    refresh: (grant: Grant) => Promise<RefreshResult>,
  ): Promise<boolean> {
    const hasWaited = await this.#begin();
    try {
      // Mostly another replica has refreshed it meanwhile. One query sees that; the lock would cost four and a hint.
      if (hasWaited && !(await this.#isStale(key, stale))) return true;
      const { tenant, principal, server, pin } = key;
      const lock = await this.#direct.tryLock(lockIdOf(keyDigest("grants", tenant, principal, server, pin)));
      if (lock === undefined) return false;
      try {
        // Another replica may have refreshed it before it released the lock.
        const found = await this.#read(key);
        if (found !== undefined && needsRefresh(found, stale))
          await this.#store(key, stale, await refresh(found.grant));
      } finally {
        await lock.release();
        this.#hints.send("grant", grantHint(key));
      }
      return true;
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }

  /** Returns whether others were running. */
  async #begin(): Promise<boolean> {
    const waits = this.#running >= mostRefreshes;
    while (this.#running >= mostRefreshes) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running += 1;
    return waits;
  }

  async #isStale(key: GrantKey, stale: number): Promise<boolean> {
    const found = await this.#read(key);
    return found !== undefined && needsRefresh(found, stale);
  }

  /**
   * Stores what the issuer said, unless the user has signed in again meanwhile. What the issuer has given once it gives
   * to no other replica, so storing it is tried until PostgreSQL is back.
   */
  async #store(key: GrantKey, stale: number, result: RefreshResult): Promise<void> {
    const deadline = this.#clock.now() + storing.longest;
    for (;;) {
      try {
        await this.#storeOnce(key, stale, result);
        return;
      } catch (error) {
        const isLate = this.#clock.now() > deadline || this.#isClosed;
        if (!isStoreAway(error) || result.kind !== "refreshed" || isLate) throw error;
        await new Promise<void>((resolve) => this.#clock.after(storing.pause, resolve));
      }
    }
  }

  async #storeOnce(key: GrantKey, stale: number, result: RefreshResult): Promise<void> {
    const isStale = `where ${isKey} and generation = $5`;
    const keys = [...keyValues(key), stale];
    switch (result.kind) {
      case "refreshed":
        await this.#run(
          `update grants set issuer = $6, encrypted = $7, expires_at = $8, pause_until = null,
            generation = nextval('grant_generations') ${isStale}`,
          [...keys, ...this.#grantValues(key, result.grant)],
        );
        return;
      case "refused":
        await this.#run(`update grants set refused_at = now() ${isStale}`, keys);
        return;
      case "failed":
        await this.#run(`update grants set pause_until = $6 ${isStale}`, [...keys, toTime(result.pauseUntil)]);
    }
  }

  /** Resolves with the next hint about a grant, or when it is time to read again. */
  #change(id: string, signal: AbortSignal): { readonly promise: Promise<void>; readonly stop: () => void } {
    let stop: () => void = () => undefined;
    const promise = new Promise<void>((resolve, reject) => {
      const abort = (): void => reject(signal.reason);
      let isFirst = true;
      const stopListening = this.#hints.listen("grant", (changed) => {
        // The first call without an id says only that listening has begun.
        if (changed === id || (changed === undefined && !isFirst)) resolve();
        isFirst = false;
      });
      const cancelTimer = this.#clock.after(pollTime, resolve);
      signal.addEventListener("abort", abort, { once: true });
      stop = () => {
        stopListening();
        cancelTimer();
        signal.removeEventListener("abort", abort);
      };
    });
    promise.catch(() => undefined);
    return { promise, stop };
  }

  async #read(key: GrantKey): Promise<ReadGrant | undefined> {
    const [row] = await this.#run<GrantRow>(`select ${columns} from grants where ${isKey}`, keyValues(key));
    return row && this.#toReadable(row);
  }

  /** A row that no key of the ring opens is of no use: the user signs in again. */
  #toReadable(row: GrantRow): ReadGrant | undefined {
    const secret = decryptRow(this.#ring, boundOf(row), row.encrypted);
    return secret === undefined ? undefined : { grant: toGrant(row, secret), isPaused: row.is_paused };
  }

  #grantValues(key: GrantKey, { issuer, secret, expiresAt }: NewGrant): readonly unknown[] {
    return [boundedText(issuer), encryptRow(this.#ring, boundOf(key), secret), toTime(expiresAt)];
  }
}

interface ReadGrant {
  readonly grant: Grant;
  /** By the clock of PostgreSQL. */
  readonly isPaused: boolean;
}

function needsRefresh({ grant, isPaused }: ReadGrant, stale: number): boolean {
  return grant.generation === stale && grant.refusedAt === undefined && !isPaused;
}

function keyValues(key: GrantKey): readonly [number, string, string, string] {
  return [
    ...ownerValues(key),
    keyText(key.server, "the name of the server"),
    keyText(key.pin, "the pin of the sign-in"),
  ];
}

function boundOf({ tenant, principal, server, pin }: GrantKey): Bound {
  return ["grants", tenant, principal, server, pin];
}

function toGrant(row: GrantRow | undefined, secret: string): Grant {
  if (row === undefined) throw new HostError("internal", "PostgreSQL returned no row of the sign-in");
  const { tenant, principal, server, pin, issuer, generation, expires_at, refused_at, pause_until } = row;
  return {
    key: { tenant, principal, server, pin },
    issuer,
    secret,
    expiresAt: expires_at?.getTime(),
    generation: Number(generation),
    refusedAt: refused_at?.getTime(),
    pauseUntil: pause_until?.getTime(),
  };
}

function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
