/** The stored results of one conversation, each with a handle (`result://ID`). The model can read only these. */

import { HostError } from "../errors.ts";
import type { StoredFile } from "../files/result-files.ts";
import type { KeptFile, LeftOut } from "../normalise/content/parts.ts";

export interface StoredResult {
  readonly id: string;
  /** Fairlead's description of the result. */
  readonly what: string;
  /** The server that returned the result. */
  readonly server?: string;
}

const scheme = "result://";
/** Maximum number of handles in an error message. The latest handles come first. */
const mostListed = 20;

/** Stores the results of one conversation, and finds them by handle. */
export class ResultHandles {
  readonly #store: (file: LeftOut) => Promise<StoredFile>;
  readonly #files: (ids: ReadonlySet<string>) => Promise<readonly StoredFile[]>;
  readonly #record: (stored: StoredResult) => void;
  readonly #results: Map<string, StoredResult>;

  /**
   * @param record Records a stored result, so that a resumed conversation can read it.
   * @param earlier The stored results of a resumed conversation.
   */
  constructor(
    store: (file: LeftOut) => Promise<StoredFile>,
    files: (ids: ReadonlySet<string>) => Promise<readonly StoredFile[]>,
    record: (stored: StoredResult) => void,
    earlier: readonly StoredResult[] = [],
  ) {
    this.#store = store;
    this.#files = files;
    this.#record = record;
    this.#results = new Map(earlier.map((stored) => [stored.id, stored]));
  }

  /** Whether the conversation has at least one stored text, which the model can read. */
  get isUsed(): boolean {
    return this.#results.size > 0;
  }

  async keep(file: LeftOut, server?: string): Promise<KeptFile> {
    const { id, path } = await this.#store(file);
    if (file.encoding !== "utf8") return { path };
    const stored = { id, what: file.what, server };
    this.#results.set(id, stored);
    this.#record(stored);
    return { path, handle: `${scheme}${id}` };
  }

  /** Finds the file of a stored result. @throws HostError `not_found`; its message lists handles that exist */
  async find(handle: string): Promise<{ readonly path: string; readonly server?: string }> {
    const id = handle.startsWith(scheme) ? handle.slice(scheme.length) : handle;
    const stored = this.#results.get(id);
    const [file] = stored === undefined ? [] : await this.#files(new Set([id]));
    if (file === undefined) throw await this.#unknown(handle);
    return { path: file.path, server: stored?.server };
  }

  async #unknown(handle: string): Promise<HostError> {
    const files = new Set((await this.#files(new Set(this.#results.keys()))).map(({ id }) => id));
    const live = [...this.#results.values()].filter(({ id }) => files.has(id)).reverse();
    const listed = live.slice(0, mostListed).map(({ id, what }) => `${scheme}${id} (${what})`);
    const list = listed.length === 0 ? "no results are stored" : `stored results: ${listed.join(", ")}`;
    return new HostError("not_found", `there is no result ${JSON.stringify(handle.slice(0, 100))}; ${list}`);
  }
}
