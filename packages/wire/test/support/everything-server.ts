/** The reference server with every feature of the legacy era, on each of its transports. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { StdioTarget } from "../../src/target.ts";

const program = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));
const { PATH = "" } = process.env;

export const everythingOnStdio: StdioTarget = {
  kind: "stdio",
  command: process.execPath,
  args: [program, "stdio"],
  env: { PATH },
  cwd: process.cwd(),
};

export interface EverythingServer extends AsyncDisposable {
  readonly origin: string;
}

/** Ready when this resolves. */
export async function startEverything(transport: "sse" | "streamableHttp"): Promise<EverythingServer> {
  const port = await freePort();
  const child = spawn(process.execPath, [program, transport], {
    env: { PATH, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const gone = once(child, "exit");
  // The only thing it says about itself, and not until it listens.
  for await (const line of createInterface(child.stderr)) if (line.includes(`port ${port}`)) break;
  child.stderr.resume();
  return {
    origin: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}

/** It does not tell which port it got, so it has to be given one. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
