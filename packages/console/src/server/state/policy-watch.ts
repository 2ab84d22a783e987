/** Notices rules, approvals and locked definitions that were changed outside of this console, such as in an editor. */

import type { Clock } from "@fairlead/core/clock";
import type { OpenedHost } from "@fairlead/core/host";

/** Milliseconds between two looks. A look compares the times of a few files. */
const pause = 1000;

interface PolicyWatchOptions {
  readonly host: OpenedHost;
  readonly clock: Pick<Clock, "after">;
  /** Called after a change. */
  readonly onChanged: () => void;
}

/** The host reads the files again at the next request, and emits nothing. So this looks for as long as a console is open. */
export class PolicyWatch implements Disposable {
  readonly #options: PolicyWatchOptions;
  #latest: object | undefined;
  #callOff: () => void = () => {};
  #isClosed = false;

  constructor(options: PolicyWatchOptions) {
    this.#options = options;
  }

  /** Begins to look. What is read now is no change. */
  async start(): Promise<void> {
    this.#latest = await this.#options.host.policy();
    this.#lookLater();
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#callOff();
  }

  #lookLater(): void {
    if (this.#isClosed) return;
    this.#callOff = this.#options.clock.after(pause, () => void this.#look(), { background: true });
  }

  async #look(): Promise<void> {
    // A file that cannot be read is a problem among the policies. The host may be closing.
    const found = await this.#options.host.policy().catch(() => this.#latest);
    // The host returns the same object until a file has changed.
    if (found !== this.#latest && !this.#isClosed) {
      this.#latest = found;
      this.#options.onChanged();
    }
    this.#lookLater();
  }
}
