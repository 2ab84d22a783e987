/** Finds the running background host. */

import { connectHost, type HostConnection, type Reached } from "./connect-host.ts";
import { type RunFolder, readToken } from "./run-folder.ts";
import type { Hello } from "./speech.ts";

/** What a relay says about itself. `findHost` adds the token and the protocol version. */
export type RelayHello = Omit<Hello, "fairlead" | "token">;

/** The host refuses the connection (for example because a newer host has replaced it), or does not answer. */
export class HostRefused extends Error {
  readonly reason: Extract<Reached, { readonly kind: "refused" }>["reason"];

  constructor(reason: HostRefused["reason"], message: string) {
    super(`the background host refused the connection: ${message}`);
    this.reason = reason;
  }
}

/**
 * Connects to the running host. Resolves with undefined if no host runs.
 * @throws HostRefused if the host refuses the relay or does not answer
 */
export async function findHost(folder: RunFolder, greeting: RelayHello): Promise<HostConnection | undefined> {
  for (let token = readToken(folder); token !== undefined; ) {
    const reached = await connectHost(folder.socket, { ...greeting, token });
    if (reached.kind === "open") return reached.connection;
    if (reached.kind === "absent") return undefined;
    const current = readToken(folder);
    // Another token means that a new host has just started. Tries again with this token.
    if (reached.reason !== "token" || current === token) throw new HostRefused(reached.reason, reached.message);
    token = current;
  }
  return undefined;
}
