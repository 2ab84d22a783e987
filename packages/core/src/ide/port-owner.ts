/** Finds out which user listens on a port of 127.0.0.1 (Linux only). */

import { readFile } from "node:fs/promises";

/**
 * Whether this user listens on the port. Otherwise another user of the machine could answer for an IDE that has ended.
 * True if the system does not tell.
 */
export async function isOwnPort(port: number, platform: NodeJS.Platform = process.platform): Promise<boolean> {
  const user = process.getuid?.();
  if (platform !== "linux" || user === undefined) return true;
  const table = await readFile("/proc/net/tcp", "latin1").catch(() => undefined);
  return table === undefined || listenersIn(table, port).includes(user);
}

/** Returns the ids of the users that listen on the port, in the format of `/proc/net/tcp`. */
export function listenersIn(table: string, port: number): readonly number[] {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  return table.split("\n").flatMap((line) => {
    const [, local, , state, , , , user] = line.trim().split(/\s+/);
    // 0A: the socket listens. The address is 127.0.0.1, or all addresses of the machine.
    const isListening = state === "0A" && (local === `0100007F:${hex}` || local === `00000000:${hex}`);
    return isListening ? [Number(user)] : [];
  });
}
