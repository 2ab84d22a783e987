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

/** Stores results of one conversation, and finds them by handle. */
export interface ResultHandles {
  readonly keep: (file: LeftOut, server?: string) => Promise<KeptFile>;
  /** Whether the conversation has at least one stored text, which the model can read. */
  readonly isUsed: () => boolean;
  /** Finds the file of a stored result. @throws HostError `not_found`; its message lists handles that exist */
  readonly find: (handle: string) => Promise<FoundResult>;
}

/** The file of a stored result, and the server that returned it. */
export interface FoundResult {
  readonly path: string;
  readonly server?: string;
}

/** Functions that store, find and record results. */
export interface ResultHandlesOptions {
  readonly store: (file: LeftOut) => Promise<StoredFile>;
  readonly find: (ids: ReadonlySet<string>) => Promise<readonly StoredFile[]>;
  /** Records a stored result, so that a resumed conversation can read it. */
  readonly record: (stored: StoredResult) => void;
  /** The stored results of a resumed conversation. */
  readonly earlier?: readonly StoredResult[];
}

const scheme = "result://";
/** Maximum number of handles in an error message. The latest handles come first. */
const mostListed = 20;

/** Creates the handles of a conversation. A new conversation has no `earlier` results. */
export function createResultHandles({ store, find, record, earlier = [] }: ResultHandlesOptions): ResultHandles {
  const results = new Map(earlier.map((stored) => [stored.id, stored]));

  async function unknown(handle: string): Promise<HostError> {
    const files = new Set((await find(new Set(results.keys()))).map(({ id }) => id));
    const live = [...results.values()].filter(({ id }) => files.has(id)).reverse();
    const listed = live.slice(0, mostListed).map(({ id, what }) => `${scheme}${id} (${what})`);
    const list = listed.length === 0 ? "no results are stored" : `stored results: ${listed.join(", ")}`;
    return new HostError("not_found", `there is no result ${JSON.stringify(handle.slice(0, 100))}; ${list}`);
  }

  return {
    async keep(file, server) {
      const { id, path } = await store(file);
      if (file.encoding !== "utf8") return { path };
      const stored = { id, what: file.what, server };
      results.set(id, stored);
      record(stored);
      return { path, handle: `${scheme}${id}` };
    },
    isUsed: () => results.size > 0,
    async find(handle) {
      const id = handle.startsWith(scheme) ? handle.slice(scheme.length) : handle;
      const stored = results.get(id);
      const [file] = stored === undefined ? [] : await find(new Set([id]));
      if (file === undefined) throw await unknown(handle);
      return { path: file.path, server: stored?.server };
    },
  };
}
