/** Servers from npm packages that people use, on stdio as entries of a settings file, or over HTTP. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { askSharedHost } from "./shared-host.ts";
import type { StdioEntry } from "./stdio-server.ts";

export type RealServer = "everything" | "filesystem" | "gitlab" | "memory" | ServerWithViews;

/** Servers with views (MCP Apps). */
export type ServerWithViews = "budget-allocator" | "debug" | "system-monitor";

const programs: Readonly<Record<RealServer, string>> = {
  everything: import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"),
  filesystem: import.meta.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"),
  gitlab: import.meta.resolve("@modelcontextprotocol/server-gitlab/dist/index.js"),
  memory: import.meta.resolve("@modelcontextprotocol/server-memory/dist/index.js"),
  // These packages export another file of the same folder only.
  "budget-allocator": beside(import.meta.resolve("@modelcontextprotocol/server-budget-allocator")),
  debug: beside(import.meta.resolve("@modelcontextprotocol/server-debug")),
  "system-monitor": beside(import.meta.resolve("@modelcontextprotocol/server-system-monitor")),
};

function beside(exported: string): string {
  return new URL("index.js", exported).href;
}

// This path is valid from `src` and from `dist`.
const tellPort = new URL("../src/programs/tell-port.mjs", import.meta.url).href;

export function realServer(name: RealServer, ...args: readonly string[]): StdioEntry {
  return { command: process.execPath, args: [bundledServer(name) ?? fileURLToPath(programs[name]), ...args] };
}

/**
 * Returns the file of a server that `scripts/bundle-servers.mjs` has bundled. With `npm test -- --long` the servers run
 * from their packages, as people run them: then the result is undefined, as it is if there is no bundle.
 */
export function bundledServer(name: RealServer | "contract-server" | "modern"): string | undefined {
  if (process.env["FAIRLEAD_LONG"] === "1") return undefined;
  // This path is valid from `src` and from `dist`.
  const file = fileURLToPath(new URL(`../bundle/${name}/index.js`, import.meta.url));
  return existsSync(file) ? file : undefined;
}

export interface EverythingServer extends AsyncDisposable {
  readonly url: string;
}

type WebTransport = "sse" | "streamableHttp";

/** Returns the reference server over HTTP. All tests of a run use the same one; without a shared process, each starts its own. */
export async function everythingServer(transport: WebTransport): Promise<EverythingServer> {
  const shared = await askSharedHost("everything", [transport]);
  if (shared !== undefined) return { url: shared, async [Symbol.asyncDispose]() {} };
  const { url, kill, gone } = await startEverything(transport);
  return {
    url,
    async [Symbol.asyncDispose]() {
      kill();
      await gone;
    },
  };
}

interface StartedEverything {
  readonly url: string;
  readonly kill: () => void;
  readonly gone: Promise<unknown>;
}

/** Starts the reference server over HTTP. Resolves when it listens. */
export async function startEverything(transport: WebTransport): Promise<StartedEverything> {
  const { command, args } = realServer("everything", transport);
  const child = spawn(command, ["--import", tellPort, ...args], {
    env: { PATH: process.env["PATH"], PORT: "0" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const gone = once(child, "exit");
  const port = await toldPort(child.stderr);
  child.stderr.resume();
  return {
    url: `http://127.0.0.1:${port}/${transport === "sse" ? "sse" : "mcp"}`,
    kill: () => void child.kill("SIGKILL"),
    gone,
  };
}

async function toldPort(stderr: Readable): Promise<string> {
  const lines: string[] = [];
  for await (const line of createInterface(stderr)) {
    const [, port] = /^listening on (\d+)$/.exec(line) ?? [];
    if (port !== undefined) return port;
    lines.push(line);
  }
  throw new Error(`the reference server ended before it listened:\n${lines.join("\n")}`);
}
