/** Starts the server with tools for tests of calls, in either era, on stdio or over HTTP. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { until } from "./process-list.ts";
import { programServer, type StdioEntry } from "./stdio-server.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export interface Workshop extends AsyncDisposable {
  /** The entry that starts the server on stdio. Each use starts a new process. */
  readonly entry: StdioEntry;
  /** The server's URL; undefined on stdio. */
  readonly url?: string;
  /** Returns the calls and cancellations that the server has written so far. */
  notes(): readonly string[];
  /** Resolves when the server has written this line as often as `times`. */
  noted(line: string, times?: number): Promise<void>;
}

export async function workshop(era: "legacy" | "modern", transport: "stdio" | "http"): Promise<Workshop> {
  const folder = await temporaryFolder();
  const file = `${folder.path}/notes`;
  writeFileSync(file, "");
  const entry = programServer("workshop", file, era, transport);
  const web = transport === "http" ? await serve(entry) : undefined;
  const notes = (): readonly string[] => readFileSync(file, "utf8").split("\n").slice(0, -1);
  return {
    entry,
    ...(web && { url: web.url }),
    notes,
    noted: (line, times = 1) => until(() => notes().filter((each) => each === line).length >= times),
    async [Symbol.asyncDispose]() {
      await web?.end();
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function serve({ command, args }: StdioEntry): Promise<{ url: string; end: () => Promise<unknown> }> {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const gone = once(child, "exit");
  const [url] = (await once(createInterface(child.stdout), "line")) as [string];
  return {
    url,
    end() {
      child.stdin.end();
      return gone;
    },
  };
}
