/** The saved approvals of one user, for the host that works for them: a copy of at most five seconds. */

import type { Clock } from "@fairlead/core/clock";
import type { ToolApproval, ToolApprovalStore } from "@fairlead/core/policy";
import type { ApprovalKey, SavedApproval, UserApprovalStore } from "../store/approvals.ts";
import { type Hints, ownerHint } from "../store/hints.ts";
import type { Owner } from "../store/owner.ts";

/** A decision waits for a new look after this many milliseconds. A hint leads to one at once. */
const fresh = 5000;

export interface UserApprovalsOptions {
  readonly store: UserApprovalStore;
  readonly hints: Hints;
  readonly owner: Owner;
  readonly clock: Pick<Clock, "now">;
}

export class UserApprovals implements ToolApprovalStore, Disposable {
  readonly #options: UserApprovalsOptions;
  readonly #stop: () => void;
  #version = 0;
  #cached: readonly ToolApproval[] | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** Whether another replica has changed something since the last look. */
  #isOutdated = false;
  #looking: Promise<void> | undefined;

  constructor(options: UserApprovalsOptions) {
    this.#options = options;
    const own = ownerHint(options.owner);
    this.#stop = options.hints.listen("approval", (id) => {
      if (id === undefined || id === own) this.#isOutdated = true;
    });
  }

  get version(): number {
    return this.#version;
  }

  /** While the store is away, the last approvals count. */
  readonly follow = (): Promise<void> | undefined => {
    const isFresh = !this.#isOutdated && this.#options.clock.now() - this.#lookedAt < fresh;
    if (isFresh) return undefined;
    this.#looking ??= this.#look()
      .catch(() => undefined)
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  };

  async read(): Promise<readonly ToolApproval[]> {
    if (this.#cached === undefined) await this.#look();
    return this.#cached ?? [];
  }

  async save(approval: ToolApproval): Promise<void> {
    const { store, owner } = this.#options;
    await store.save(owner, toSaved(approval, owner.principal));
    this.#isOutdated = true;
  }

  async remove(approval: ToolApproval): Promise<void> {
    const { store, owner } = this.#options;
    await store.remove(owner, toKey(approval));
    this.#isOutdated = true;
  }

  /** A failure to save is reported where it happens; it cannot be known before. */
  canSave(): Promise<boolean> {
    return Promise.resolve(true);
  }

  [Symbol.dispose](): void {
    this.#stop();
  }

  async #look(): Promise<void> {
    const { store, owner, clock } = this.#options;
    const wasOutdated = this.#isOutdated;
    this.#isOutdated = false;
    this.#lookedAt = clock.now();
    try {
      const latest = (await store.list(owner)).map(toToolApproval);
      // A hint can be about accepted definitions, too.
      const isNew = wasOutdated || JSON.stringify(latest) !== JSON.stringify(this.#cached);
      this.#cached = latest;
      if (isNew) this.#version += 1;
    } catch (error) {
      this.#isOutdated ||= wasOutdated;
      throw error;
    }
  }
}

function toKey({ server, fingerprint, kind, tool, client }: ToolApproval): ApprovalKey {
  return { server, fingerprint, kind: kind ?? "tool", tool, ...(client !== undefined && { client }) };
}

function toSaved(approval: ToolApproval, by: string): SavedApproval {
  const { digest, definition, approvedAt: at } = approval;
  return { ...toKey(approval), digest, by, at, ...(definition !== undefined && { definition }) };
}

function toToolApproval({ kind, at, by: _by, ...approval }: SavedApproval): ToolApproval {
  return { ...approval, approvedAt: at, ...(kind !== "tool" && { kind }) };
}
