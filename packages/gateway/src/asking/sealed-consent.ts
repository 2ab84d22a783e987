/**
 * Seals a person's yes into the `requestState` of a modern server: the client sends its request again with the server's
 * answers, and the person is not asked a second time. A seal is used once; it is stored, so that it outlives the gateway.
 */

import { hash, randomBytes } from "node:crypto";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ensurePrivateFolder, privateFileMode } from "@fairlead/core/files/atomic/private-folder";

export interface SealedConsent {
  /** The state to give to the client. `state` is the server's own; undefined if it gave none. */
  seal(identity: string, state: string | undefined): Promise<string>;
  /** The server's state, if the seal was not used before, is not too old and was made for this request. */
  open(sealed: string, identity: string): Promise<{ readonly state: string | undefined } | undefined>;
}

const prefix = "fairlead-yes.";
/** How long a yes holds, in milliseconds. */
const lifetime = 600_000;
const mostSeals = 1000;

/** Whether a request state was sealed by a gateway. */
export function isSealed(state: unknown): state is string {
  return typeof state === "string" && state.startsWith(prefix);
}

/** @param folder Where the seals are stored. If it cannot be written, seals end with this gateway. */
export function createSealedConsent(folder: string, now: () => number): SealedConsent {
  /** Seals that could not be stored. */
  const unstored = new Map<string, string>();

  /** The name of a seal's file has its end; the content is bound to the request and to the server's state. */
  async function store(name: string, content: string): Promise<void> {
    await ensurePrivateFolder(folder);
    const stored = (await readdir(folder)).map((file) => ({ file, until: Number(file.split(".")[1]) }));
    const current = stored.filter(({ until }) => until >= now()).toSorted((one, other) => other.until - one.until);
    const kept = new Set(current.slice(0, mostSeals - 1).map(({ file }) => file));
    for (const { file } of stored) if (!kept.has(file)) await rm(join(folder, file), { force: true });
    await writeFile(join(folder, name), content, { flag: "wx", mode: privateFileMode });
  }

  async function take(name: string): Promise<string | undefined> {
    const known = unstored.get(name);
    unstored.delete(name);
    if (known !== undefined) return known;
    const content = await readFile(join(folder, name), "utf8").catch(() => undefined);
    if (content === undefined) return undefined;
    // Of several requests with the same seal, one removes the file.
    return rm(join(folder, name)).then(
      () => content,
      () => undefined,
    );
  }

  return {
    async seal(identity, state) {
      const nonce = randomBytes(32).toString("base64url");
      const until = Math.trunc(now() + lifetime);
      const name = `${hash("sha256", nonce)}.${until}`;
      const content = contentOf(identity, state);
      await store(name, content).catch(() => {
        const [oldest] = unstored.keys();
        if (oldest !== undefined && unstored.size >= mostSeals) unstored.delete(oldest);
        unstored.set(name, content);
      });
      const parts = [nonce, until, ...(state === undefined ? [] : [Buffer.from(state).toString("base64url")])];
      return `${prefix}${parts.join(".")}`;
    },
    async open(sealed, identity) {
      const [nonce = "", until = "", given, ...rest] = sealed.slice(prefix.length).split(".");
      if (rest.length > 0 || !/^\d{1,16}$/.test(until) || Number(until) < now()) return undefined;
      const state = given === undefined ? undefined : Buffer.from(given, "base64url").toString("utf8");
      const content = await take(`${hash("sha256", nonce)}.${until}`);
      return content === undefined || content !== contentOf(identity, state) ? undefined : { state };
    },
  };
}

function contentOf(identity: string, state: string | undefined): string {
  return hash("sha256", JSON.stringify([identity, state ?? null]));
}
