/** Knows which users are revoked, on this replica. It asks the store again every 30 seconds, and when a hint arrives. */

import type { Clock } from "@fairlead/core/clock";
import type { Hints } from "../store/hints.ts";
import type { Owner } from "../store/owner.ts";
import type { UserRevocationStore } from "../store/revocations.ts";

const interval = 30_000;

export class RevokedUsers implements Disposable {
  readonly #store: UserRevocationStore;
  readonly #clock: Pick<Clock, "after">;
  readonly #stop: () => void;
  #issuedBefore: ReadonlyMap<string, number> = new Map();
  #cancel: (() => void) | undefined;
  #isDisposed = false;

  private constructor(store: UserRevocationStore, hints: Hints, clock: Pick<Clock, "after">) {
    this.#store = store;
    this.#clock = clock;
    this.#stop = hints.listen("revocation", () => void this.#follow());
  }

  /** Reads the list before the first request is accepted. */
  static async open(store: UserRevocationStore, hints: Hints, clock: Pick<Clock, "after">): Promise<RevokedUsers> {
    const users = new RevokedUsers(store, hints, clock);
    try {
      await users.#read();
    } catch (error) {
      users[Symbol.dispose]();
      throw error;
    }
    users.#plan();
    return users;
  }

  /** @param issuedAt When the user's token was issued, in milliseconds since 1970. */
  has(owner: Owner, issuedAt: number): boolean {
    const before = this.#issuedBefore.get(keyOf(owner));
    return before !== undefined && issuedAt < before;
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#stop();
    this.#cancel?.();
  }

  /** If the store is away, the last list stays in force. */
  async #follow(): Promise<void> {
    await this.#read().catch(() => undefined);
    this.#plan();
  }

  #plan(): void {
    this.#cancel?.();
    if (!this.#isDisposed) this.#cancel = this.#clock.after(interval, () => void this.#follow(), { background: true });
  }

  async #read(): Promise<void> {
    const revoked = await this.#store.list();
    this.#issuedBefore = new Map(revoked.map((each) => [keyOf(each), each.issuedBefore]));
  }
}

function keyOf({ tenant, principal }: Owner): string {
  return `${tenant} ${principal}`;
}
