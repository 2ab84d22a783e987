/** The ways to reach the contract server: every transport in every era that it has. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { bundledServer } from "@fairlead/test-servers";
import type { Era } from "../../src/session.ts";
import type { Target } from "../../src/target.ts";

const program =
  bundledServer("contract-server") ?? fileURLToPath(new URL("../programs/contract-server.mjs", import.meta.url));

export interface Leg {
  readonly transport: "stdio" | "http" | "sse";
  readonly era: Era;
  readonly protocolVersion: string;
  /** Where it is; on the web, once the server listens there. */
  target(origin: string): Target;
}

const legacy = { era: "legacy", protocolVersion: "2025-11-25" } as const;
const modern = { era: "modern", protocolVersion: "2026-07-28" } as const;

export const legs: readonly Leg[] = [
  { transport: "stdio", ...legacy, target: () => stdio("legacy") },
  { transport: "stdio", ...modern, target: () => stdio("modern") },
  { transport: "http", ...legacy, target: (origin) => ({ kind: "http", url: `${origin}/legacy`, headers: {} }) },
  { transport: "http", ...modern, target: (origin) => ({ kind: "http", url: `${origin}/modern`, headers: {} }) },
  { transport: "sse", ...legacy, target: (origin) => ({ kind: "sse", url: `${origin}/sse`, headers: {} }) },
];

function stdio(era: Era): Target {
  const { PATH = "" } = process.env;
  return { kind: "stdio", command: process.execPath, args: [program, "stdio", era], env: { PATH }, cwd: process.cwd() };
}

export interface ContractWeb extends AsyncDisposable {
  readonly origin: string;
}

/** The contract server on the web: over stdio every session has a server of its own, on the web they may share one. */
export async function startWeb(): Promise<ContractWeb> {
  const child = spawn(process.execPath, [program, "web"], { stdio: ["pipe", "pipe", "inherit"] });
  const [origin] = (await once(createInterface(child.stdout), "line")) as [string];
  const gone = once(child, "exit");
  return {
    origin,
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await gone;
    },
  };
}
