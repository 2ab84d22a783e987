/** A real connection to the workshop, and an executor for it. */

import { randomUUID } from "node:crypto";
import { processesWith, type Workshop, workshop } from "@fairlead/test-servers";
import { connect, type JsonObject, type Target } from "@fairlead/wire";
import { type CallResult, type ExecuteOptions, Executor, type ExecutorOptions } from "../../src/execute/executor.ts";
import { createValidator } from "../../src/execute/validation/validator.ts";
import { Connection } from "../../src/server/connection.ts";
import { type ManualClock, manualClock } from "./manual-clock.ts";

export interface OpenWorkshop extends AsyncDisposable {
  readonly workshop: Workshop;
  readonly client: Connection;
  readonly executor: Executor;
  /** The time of the requests: no limit is reached unless a test lets it pass. */
  readonly clock: ManualClock;
  call(tool: string, args?: JsonObject, options?: Partial<ExecuteOptions>): Promise<CallResult>;
  /** Ends the process as one is ended from outside. */
  kill(): void;
}

export interface WorkshopPlace {
  readonly era: "legacy" | "modern";
  readonly transport: "stdio" | "http";
}

/** Every way in which a call can reach a server, with what the server notices when it is called off. */
export const places: readonly (WorkshopPlace & { readonly sees: "cancelled" | "closed" })[] = [
  { era: "legacy", transport: "stdio", sees: "cancelled" },
  { era: "legacy", transport: "http", sees: "cancelled" },
  { era: "modern", transport: "stdio", sees: "cancelled" },
  { era: "modern", transport: "http", sees: "closed" },
];

export const patient = { timeout: 60_000, total: 60_000 };

export async function openWorkshop(
  { era, transport }: WorkshopPlace = { era: "legacy", transport: "stdio" },
  options: Partial<ExecutorOptions> = {},
  name = "shop",
): Promise<OpenWorkshop> {
  const server = await workshop(era, transport);
  const mark = randomUUID();
  const clock = manualClock();
  const client = await connectTo(server, name, { mark, clock });
  const validator = createValidator();
  const executor = new Executor({ limits: () => ({ callsPerServer: 16, callsTotal: 64 }), validator, ...options });
  return {
    workshop: server,
    client,
    executor,
    clock,
    call: (tool, args = {}, given = {}) => executor.call({ client, tool, args }, { ...patient, ...given }),
    kill() {
      for (const line of processesWith(mark)) process.kill(Number.parseInt(line, 10), "SIGKILL");
    },
    async [Symbol.asyncDispose]() {
      await client.disconnect();
      await validator.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Connected and discovered. */
export async function connectTo(
  server: Workshop,
  name: string,
  { mark = "", clock }: { readonly mark?: string; readonly clock?: ManualClock } = {},
): Promise<Connection> {
  const env = { PATH: process.env["PATH"] ?? "", MARK: mark };
  const target: Target =
    server.url === undefined
      ? { kind: "stdio", ...server.entry, env, cwd: process.cwd() }
      : { kind: "http", url: server.url, headers: {} };
  const client = new Connection({
    definition: { name, excludeTools: [] },
    connectTimeout: 30_000,
    open: ({ signal, onNotification }) =>
      connect(target, { clientInfo: { name: "test", version: "1" }, signal, onNotification, time: clock }),
  });
  await client.connect();
  await client.discover();
  return client;
}
