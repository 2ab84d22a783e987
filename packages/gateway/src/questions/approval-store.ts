/**
 * Stores a person's approval of a request while a modern client answers the server's questions. When the client then
 * repeats the request, the person is not asked again. Each approval can be used once. It stays valid if the gateway
 * restarts.
 */

import { hash, randomBytes } from "node:crypto";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ensurePrivateFolder, privateFileMode } from "@fairlead/core/files/atomic/private-folder";
import type { IdentifiedServer } from "@fairlead/core/host/gateway-types";

export interface ApprovalStore {
  /** Stores an approval, and returns the request state for the client. */
  store(identity: string, approval: StoredApproval): Promise<string>;
  /**
   * Returns the stored approval. Returns undefined if the request state was used before, has expired, or belongs to
   * another request.
   */
  take(requestState: string, identity: string): Promise<StoredApproval | undefined>;
}

export interface StoredApproval {
  /**
   * The approved tool, prompt or resource, as returned by `approvedSubject`. It identifies the server too, because the
   * name alone may mean another server's tool after a change of the settings.
   */
  readonly subject: string;
  /** The server's own request state. Undefined if the server sent none. */
  readonly state: string | undefined;
}

const prefix = "fairlead-yes.";
/** How long an approval stays valid, in milliseconds. */
const lifetime = 600_000;
const mostApprovals = 1000;

/** Whether the request state contains an approval, made by this gateway or another one. */
export function isApprovalState(state: unknown): state is string {
  return typeof state === "string" && state.startsWith(prefix);
}

/**
 * Returns the name of the approved tool, prompt or resource, such as `files.write_file`, with a digest that identifies
 * the server. A server of the same name in another workspace can be a different program.
 */
export function approvedSubject(name: string, { fingerprint, root }: Partial<IdentifiedServer> = {}): string {
  return `${name} ${hash("sha256", JSON.stringify([fingerprint ?? null, root ?? null]))}`;
}

/**
 * Creates the store of approvals.
 * @param folder The folder for stored approvals.
 */
export function createApprovalStore(folder: string, now: () => number): ApprovalStore {
  /** Approvals that could not be written to disk. They are lost when this process ends. */
  const unstored = new Map<string, string>();

  /** Stores one approval as a file. Removes the files of expired approvals. */
  async function write(name: string, content: string): Promise<void> {
    await ensurePrivateFolder(folder);
    const stored = (await readdir(folder)).map((file) => ({ file, until: Number(file.split(".")[1]) }));
    const current = stored.filter(({ until }) => until >= now()).toSorted((one, other) => other.until - one.until);
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
    // If several requests use the same request state, only the request that removes the file continues.
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
      if (rest.length > 0 || !/^\d{1,16}$/.test(until) || Number(until) < now()) return undefined;
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
