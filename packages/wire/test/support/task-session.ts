/** A session in either era with a server in memory that has tasks; its time jumps from one look at the task to the next. */

import { createLegacySession } from "../../src/eras/legacy-session.ts";
import { createModernSession } from "../../src/eras/modern-session.ts";
import type { TimeSource } from "../../src/rpc/time.ts";
import type { JsonObject, Session } from "../../src/session.ts";
import { defaultLimits } from "../../src/target.ts";
import { type MemoryServer, type OpenedRpc, rpcTo } from "./memory-server.ts";
import { clientInfo, type ModernSessionOptions, type OpenedSession } from "./modern-session.ts";
import { jumpingTime } from "./simulated-time.ts";

const serverInfo = { name: "memory", version: "1" };
const extension = "io.modelcontextprotocol/tasks";

export async function legacyTasks(
  server: MemoryServer,
  capabilities: JsonObject = { tasks: { requests: { tools: { call: {} } } } },
  time: TimeSource = jumpingTime(),
): Promise<OpenedSession> {
  const rpc = await rpcTo(server, { time });
  const greeting = { protocolVersion: "2025-11-25", serverInfo, capabilities };
  return opened(createLegacySession(rpc, greeting, "stdio"), rpc);
}

export async function modernTasks(
  server: MemoryServer,
  {
    transport = "stdio",
    capabilities = { extensions: { [extension]: {} } },
    onRequest,
    time = jumpingTime(),
  }: ModernSessionOptions & { readonly capabilities?: JsonObject } = {},
): Promise<OpenedSession> {
  const rpc = await rpcTo(server, { time });
  const greeting = { protocolVersion: "2026-07-28", serverInfo, capabilities };
  const options = { clientInfo, capabilities: { elicitation: {} }, onRequest };
  const session = createModernSession(rpc, greeting, transport, options, defaultLimits);
  return opened(session, rpc);
}

function opened(session: Session, { diagnostics }: OpenedRpc): OpenedSession {
  return { ...session, diagnostics, [Symbol.asyncDispose]: () => session.close() };
}

/** The methods that the client sent, in order. */
export function methodsOf({ sent }: MemoryServer): unknown[] {
  return sent.map(({ method }) => method);
}

export function paramsOf({ params }: JsonObject): JsonObject {
  return params as JsonObject;
}
