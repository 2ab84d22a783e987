/** Servers that people use, from their npm packages: on stdio as entries of a settings file, or on the web. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { StdioEntry } from "./stdio-server.ts";

export type RealServer = "everything" | "filesystem" | "gitlab" | "memory";

const programs: Readonly<Record<RealServer, string>> = {
  everything: import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"),
  filesystem: import.meta.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"),
  gitlab: import.meta.resolve("@modelcontextprotocol/server-gitlab/dist/index.js"),
  memory: import.meta.resolve("@modelcontextprotocol/server-memory/dist/index.js"),
};

export function realServer(name: RealServer, ...args: readonly string[]): StdioEntry {
  return { command: process.execPath, args: [fileURLToPath(programs[name]), ...args] };
}

export interface EverythingServer extends AsyncDisposable {
  readonly url: string;
}

/** The reference server on the web; it listens when this resolves. */
export async function everythingServer(transport: "sse" | "streamableHttp"): Promise<EverythingServer> {
  const port = await freePort();
  const { command, args } = realServer("everything", transport);
  const child = spawn(command, args, {
    env: { PATH: process.env["PATH"], PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const gone = once(child, "exit");
  // The only thing it says about itself, and not until it listens.
  for await (const line of createInterface(child.stderr)) if (line.includes(`port ${port}`)) break;
  child.stderr.resume();
  return {
    url: `http://127.0.0.1:${port}/${transport === "sse" ? "sse" : "mcp"}`,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}

/** It does not tell which port it got, so it has to be given one. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
