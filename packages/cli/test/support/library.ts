/** A machine whose servers have resources and prompts of the test's choosing, and keep a diary of what they are asked. */

import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { untilWritten } from "./file-event.ts";
import { type Machine, machine, userFile } from "./machine.ts";

export interface Shelf {
  readonly resources?: readonly object[];
  readonly resourceTemplates?: readonly object[];
  readonly prompts?: readonly object[];
  /** By URI; null is never answered. */
  readonly contents?: Readonly<Record<string, readonly object[] | null>>;
  /** Of prompts, by name; null is never answered. */
  readonly results?: Readonly<Record<string, object | null>>;
}

export interface Library extends Machine {
  /** What a server was asked, but for its greeting and its lists. */
  asked(server: string): Promise<readonly string[]>;
  /** Resolves when the server has been asked this. */
  isAsked(server: string, line: string): Promise<void>;
  /** How often it was started. */
  starts(server: string): Promise<number>;
  fill(server: string, shelf: Shelf): Promise<unknown>;
}

export async function library(shelves: Readonly<Record<string, Shelf>>): Promise<Library> {
  const here = await machine();
  const fill = (server: string, shelf: Shelf): Promise<unknown> => here.write(`${server}.json`, shelf);
  const servers: [string, object][] = [];
  for (const [server, shelf] of Object.entries(shelves)) {
    await fill(server, shelf);
    await here.write(`${server}.diary`, "");
    servers.push([
      server,
      stdioServer("library", join(here.path, `${server}.json`), join(here.path, `${server}.diary`)),
    ]);
  }
  await here.write(userFile, { mcpServers: Object.fromEntries(servers) });

  async function diary(server: string): Promise<readonly string[]> {
    return (await here.read(`${server}.diary`)).split("\n").filter((line) => line !== "");
  }

  return {
    ...here,
    fill,
    asked: async (server) =>
      (await diary(server)).filter((line) => /^(?:resources\/read|prompts\/get|notifications\/cancelled)/.test(line)),
    isAsked: (server, line) =>
      untilWritten(join(here.path, `${server}.diary`), (text) => text.split("\n").includes(line)),
    starts: async (server) => (await diary(server)).filter((line) => line === "initialize").length,
  };
}
