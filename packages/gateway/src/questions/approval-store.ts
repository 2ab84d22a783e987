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

/** Keeps approvals on disk, each for ten minutes. */
export interface ApprovalStore {
  /** Stores an approval. Returns the `requestState` that the client must send back. */
  store(identity: string, approval: StoredApproval): Promise<string>;
  /**
   * Returns the approval and removes it. Returns undefined if it was used, has expired or belongs to another request.
   */
  take(requestState: string, identity: string): Promise<StoredApproval | undefined>;
}

/** An approval, with what the gateway needs to continue the request. */
export interface StoredApproval {
  /**
   * What was approved, as returned by `approvedSubject`. Includes the server's identity, because the settings may
   * change in the meantime.
   */
  readonly subject: string;
  /** The server's own `requestState`. Undefined if the server sent none. */
  readonly state: string | undefined;
}

const prefix = "fairlead-yes.";
/** Milliseconds for which an approval is valid. */
const lifetime = 600_000;
const mostApprovals = 1000;

/** Whether a `requestState` refers to an approval of any gateway of Fairlead. */
export function isApprovalState(state: unknown): state is string {
  return typeof state === "string" && state.startsWith(prefix);
}

/**
 * Returns a name such as `files.write_file` with a digest of the server. Another workspace may have a different server
 * with the same name.
 */
export function approvedSubject(name: string, { fingerprint, root }: Partial<IdentifiedServer> = {}): string {
  return `${name} ${hash("sha256", JSON.stringify([fingerprint ?? null, root ?? null]))}`;
}

/** Creates the store. `folder` contains one file for each approval. */
export function createApprovalStore(folder: string, now: () => number): ApprovalStore {
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
      const { subject, state } = approval;
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

function contentOf(identity: string, { subject, state }: StoredApproval): string {
  return hash("sha256", JSON.stringify([identity, subject, state ?? null]));
}

function textIn(part: string): string {
  return Buffer.from(part, "base64url").toString("utf8");
}
