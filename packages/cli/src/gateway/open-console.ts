/** A console of a workspace, in the background host or in this process, and the file that leads a browser to it. */

import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { openUrlThrough } from "@fairlead/core/connect";
import { ensurePrivateFolder } from "@fairlead/core/files";
import { type Configuration, programPlace } from "@fairlead/core/trust";
import { openConsoleInBackground } from "@fairlead/gateway/command/background-session";
import type { Context } from "../shell/verb.ts";
import { isWithoutBackground } from "../targets/background.ts";
import { reachHost } from "./background.ts";
import { openOwnGateway } from "./open-gateway.ts";

export interface Console {
  /** The first one-time address. */
  readonly address: string;
  readonly newAddress: () => string | Promise<string>;
  /** Resolves when the process of the console has ended, or after `close`. */
  readonly closed: Promise<unknown>;
  readonly close: () => Promise<void>;
}

/**
 * Opens a console. Starts the background host if needed.
 *
 * @throws Error if the port is in use
 */
export async function openConsole(port: number, configuration: Configuration, context: Context): Promise<Console> {
  const host = isWithoutBackground(configuration, context)
    ? undefined
    : await reachHost(configuration, () => {}, context);
  if (host !== undefined) return openConsoleInBackground(host, { port });
  const { gateway, workspace } = await openOwnGateway(context);
  try {
    const opened = await gateway.openConsole(workspace, { port });
    return {
      address: opened.newAddress(),
      newAddress: () => opened.newAddress(),
      closed: new Promise(() => {}),
      close: async () => gateway[Symbol.asyncDispose](),
    };
  } catch (error) {
    await gateway[Symbol.asyncDispose]();
    throw error;
  }
}

/** A file that leads the browser to the page: the address has a code, and other users can see the command line of a browser. */
export interface RedirectFile {
  /** Makes place for a new file in a private folder. Returns its path. */
  prepare(): Promise<string>;
  remove(): Promise<void>;
}

/** An address is worth nothing after this many milliseconds, and neither is the file with it. */
const addressTime = 60_000;

export function redirectFile({ locations }: Configuration): RedirectFile {
  const folder = join(locations.state, "console");
  const file = join(folder, `${process.pid}.html`);
  return {
    async prepare() {
      await ensurePrivateFolder(folder);
      for (const name of await readdir(folder)) {
        const path = join(folder, name);
        const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: 0 }));
        // Of a command that was killed.
        if (path === file || mtimeMs < Date.now() - addressTime) await rm(path, { force: true });
      }
      return file;
    },
    remove: () => rm(file, { force: true }),
  };
}

/** Opens a browser at the address of a console. Returns false if none starts, or if the file cannot be written. */
export async function openInBrowser(
  address: string,
  file: RedirectFile,
  configuration: Configuration,
): Promise<boolean> {
  try {
    return await openUrlThrough(await file.prepare(), address, programPlace(configuration));
  } catch {
    return false;
  }
}
