/** A session in either era with a server in memory that has tasks. */

import { createLegacySession } from "../../src/legacy-session.ts";
import { createModernSession } from "../../src/modern-session.ts";
import type { JsonObject, RequestHandler, Session } from "../../src/session.ts";
import { defaultLimits } from "../../src/target.ts";
import { type MemoryServer, rpcTo } from "./memory-server.ts";
import { clientInfo } from "./modern-session.ts";

const serverInfo = { name: "memory", version: "1" };
const extension = "io.modelcontextprotocol/tasks";

export async function legacyTasks(
  server: MemoryServer,
  capabilities: JsonObject = { tasks: { requests: { tools: { call: {} } } } },
): Promise<{ session: Session; diagnostics: string[] }> {
  const { rpc, diagnostics } = await rpcTo(server);
  const greeting = { protocolVersion: "2025-11-25", serverInfo, capabilities };
  return { session: createLegacySession(rpc, greeting, "stdio"), diagnostics };
}

export async function modernTasks(
  server: MemoryServer,
  {
    transport = "stdio",
    capabilities = { extensions: { [extension]: {} } },
    onRequest,
  }: { transport?: "stdio" | "http"; capabilities?: JsonObject; onRequest?: RequestHandler } = {},
): Promise<Session> {
  const { rpc } = await rpcTo(server);
  return createModernSession({
    rpc,
    transport,
    greeting: { protocolVersion: "2026-07-28", serverInfo, capabilities },
    options: { clientInfo, capabilities: { elicitation: {} }, ...(onRequest && { onRequest }) },
    limits: defaultLimits,
  });
}

/** The methods that the client sent, in order. */
export function methodsOf({ sent }: MemoryServer): unknown[] {
  return sent.map(({ method }) => method);
}

export function paramsOf({ params }: JsonObject): JsonObject {
  return params as JsonObject;
}
