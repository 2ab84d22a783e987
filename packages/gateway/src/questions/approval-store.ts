/**
 * Stores a person's approval while a modern client answers the server's questions. When the client repeats the request,
 * the person is not asked again. An approval can be used once, also after a restart of the gateway.
 */

import { hash, randomBytes } from "node:crypto";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecent } from "@fairlead/core/clock";
import { ensurePrivateFolder, privateFileMode } from "@fairlead/core/files";
import type { IdentifiedServer } from "@fairlead/core/host";

/** Makes the `requestState` that a modern client sends back with its answers, and opens it. Valid for ten minutes. */
export interface RequestStates {
  /**
   * Whether each `requestState` is made here. Otherwise one of a server that needs no approval goes to the client as it
   * is.
   */
  readonly includesServers: boolean;
  /** Whether this gateway, or another one with the same state, has made the `requestState`. */
  isOwn(requestState: unknown): requestState is string;
  /** Returns the `requestState` that the client must send back. */
  store(identity: string, state: StoredState): Promise<string>;
  /**
   * Opens a `requestState`. An approval can be opened once. Returns undefined if it was used, has expired or belongs to
   * another request.
   */
  take(requestState: string, identity: string): Promise<StoredState | undefined>;
}

/** What the gateway needs to continue a request. */
export interface StoredState {
  /**
   * What a person has approved, as returned by `approvedSubject`; undefined if nothing needed approval. Includes the
   * server's identity, because the settings may change in the meantime.
   */
  readonly subject: string | undefined;
  /** The server's own `requestState`. Undefined if the server sent none. */
  readonly state: string | undefined;
}

const prefix = "fairlead-yes.";
/** Milliseconds for which an approval is valid. */
const lifetime = 600_000;
const mostApprovals = 1000;

/**
 * Returns a name such as `files.write_file` with a digest of the server. Another workspace may have a different server
 * with the same name.
 */
export function approvedSubject(name: string, { fingerprint, root }: Partial<IdentifiedServer> = {}): string {
  return `${name} ${hash("sha256", JSON.stringify([fingerprint ?? null, root ?? null]))}`;
}

/** Creates the store. `folder` contains one file for each approval. */
export function createApprovalStore(folder: string, now: () => number): RequestStates {
  /** Approvals that could not be written to disk. A restart loses them. */
  const unstored = new Map<string, string>();
  const isValid = (until: number): boolean => isRecent(until - lifetime, lifetime, now());

  /** Writes an approval, and removes expired ones. */
  async function write(name: string, content: string): Promise<void> {
    await ensurePrivateFolder(folder);
    const stored = (await readdir(folder)).map((file) => ({ file, until: Number(file.split(".")[1]) }));
    const current = stored.filter(({ until }) => isValid(until)).toSorted((one, other) => other.until - one.until);
    const kept = new Set(current.slice(0, mostApprovals - 1).map(({ file }) => file));
    for (const { file } of stored) if (!kept.has(file)) await rm(join(folder, file), { force: true });
    await writeFile(join(folder, name), content, { flag: "wx", mode: privateFileMode });
  }

  async function remove(name: string): Promise<string | undefined> {
    const unwritten = unstored.get(name);
    unstored.delete(name);
    if (unwritten !== undefined) return unwritten;
    const content = await readFile(join(folder, name), "utf8").catch(() => undefined);
    if (content === undefined) return undefined;
    // If several requests use the same approval, only the one that removes the file gets it.
    return rm(join(folder, name)).then(
      () => content,
      () => undefined,
    );
  }

  return {
    includesServers: false,
    isOwn: (state): state is string => typeof state === "string" && state.startsWith(prefix),
    async store(identity, approval) {
      const nonce = randomBytes(32).toString("base64url");
      const until = Math.trunc(now() + lifetime);
      const name = `${hash("sha256", nonce)}.${until}`;
      const content = contentOf(identity, approval);
      await write(name, content).catch(() => {
        const [oldest] = unstored.keys();
        if (oldest !== undefined && unstored.size >= mostApprovals) unstored.delete(oldest);
        unstored.set(name, content);
      });
      const { subject = "", state } = approval;
      const texts = [subject, ...(state === undefined ? [] : [state])].map((text) =>
        Buffer.from(text).toString("base64url"),
      );
      const parts = [nonce, until, ...texts];
      return `${prefix}${parts.join(".")}`;
    },
    async take(requestState, identity) {
      const [nonce = "", until = "", subject = "", state, ...rest] = requestState.slice(prefix.length).split(".");
      if (rest.length > 0 || !/^\d{1,16}$/.test(until) || !isValid(Number(until))) return undefined;
      const given = { subject: textIn(subject), state: state === undefined ? undefined : textIn(state) };
      const content = await remove(`${hash("sha256", nonce)}.${until}`);
      return content === undefined || content !== contentOf(identity, given) ? undefined : given;
    },
  };
}

function contentOf(identity: string, { subject, state }: StoredState): string {
  return hash("sha256", JSON.stringify([identity, subject, state ?? null]));
}

function textIn(part: string): string {
  return Buffer.from(part, "base64url").toString("utf8");
}
