/** A session of the modern era with a server in memory. */

import { createModernSession } from "../../src/eras/modern-session.ts";
import type { TimeSource } from "../../src/rpc/time.ts";
import type { JsonObject, RequestHandler, Session } from "../../src/session.ts";
import { defaultLimits } from "../../src/target.ts";
import { type MemoryServer, rpcTo } from "./memory-server.ts";

export const clientInfo = { name: "test", version: "1.2.3" };

export const discover: JsonObject = {
  resultType: "complete",
  supportedVersions: ["2026-07-28"],
  capabilities: { tools: {} },
  _meta: { "io.modelcontextprotocol/serverInfo": { name: "memory", version: "1" } },
};

export interface ModernSessionOptions {
  readonly transport?: "stdio" | "http";
  readonly onRequest?: RequestHandler;
  readonly time?: TimeSource;
}

/** Closed at the end of the scope. */
export interface OpenedSession extends Session, AsyncDisposable {
  readonly diagnostics: string[];
}

export async function modernSession(
  server: MemoryServer,
  { transport = "stdio", onRequest, time }: ModernSessionOptions = {},
): Promise<OpenedSession> {
  const rpc = await rpcTo(server, { time });
  const greeting = {
    protocolVersion: "2026-07-28",
    serverInfo: { name: "memory", version: "1" },
    capabilities: { tools: {} },
  };
  const options = { clientInfo, capabilities: { elicitation: {} }, onRequest };
  const session = createModernSession(rpc, greeting, transport, options, defaultLimits);
  return { ...session, diagnostics: rpc.diagnostics, [Symbol.asyncDispose]: () => session.close() };
}
