/** One server in a real settings file, a home and a workspace to connect it from, and what came of it. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createProcessRegistry, type Session } from "@fairlead/wire";
import type { ConnectStep } from "../../src/connect/connect-step.ts";
import { type OpenedSession, type OpenOptions, openSession } from "../../src/connect/open-session.ts";
import type { ConnectContext } from "../../src/connect/prepare-connection.ts";
import { createServerLogs } from "../../src/connect/server-log.ts";
import { HostError } from "../../src/errors.ts";
import type { ServerDefinition } from "../../src/settings/define/definition.ts";
import { createWorld, serverOf, type World } from "../support/load-settings.ts";

export interface ConnectionOptions extends Partial<Omit<ConnectContext, "environment">> {
  readonly env?: Readonly<Record<string, string>>;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly debugged?: boolean;
}

export interface Connection extends AsyncDisposable {
  readonly world: World;
  readonly definition: ServerDefinition;
  readonly context: ConnectContext;
  readonly steps: readonly ConnectStep[];
  open(options?: Partial<OpenOptions>): Promise<OpenedSession>;
  /** What opening is rejected with. */
  failure(options?: Partial<OpenOptions>): Promise<HostError>;
  log(): Promise<string>;
}

/** The entry may depend on where home and workspace are. */
export async function connection(
  entry: object | ((world: World) => object | Promise<object>),
  { env = {}, secrets = {}, debugged = false, ...given }: ConnectionOptions = {},
): Promise<Connection> {
  const world = await createWorld();
  const { trusted = true } = given;
  await world.writeUser({ mcpServers: { s: typeof entry === "function" ? await entry(world) : entry } });
  const ours = { PATH: process.env["PATH"] ?? "", HOME: world.home, ...env };
  const { definition, problems } = serverOf(await world.load({ trusted, env: ours }), "s");
  if (definition === undefined) throw new Error(problems.map(({ message }) => message).join());
  const logs = createServerLogs(join(world.home, ".fairlead"));
  const keeper = createProcessRegistry();
  const steps: ConnectStep[] = [];
  const sessions: Session[] = [];
  const context: ConnectContext = {
    keeper: async () => keeper,
    environment: world.environment(ours),
    root: world.root,
    connectTimeout: 30_000,
    secret: async (name) => secrets[name],
    log: (name) => logs.of(name),
    debug: () => debugged,
    ...given,
    trusted,
  };
  async function open(options: Partial<OpenOptions> = {}): Promise<OpenedSession> {
    const { signal } = new AbortController();
    const session = await openSession(definition as ServerDefinition, context, {
      signal,
      observe: (step) => steps.push(step),
      ...options,
    });
    sessions.push(session);
    return session;
  }
  return {
    world,
    definition,
    context,
    steps,
    open,
    async failure(options) {
      const outcome = await open(options).catch((error: unknown) => error);
      if (outcome instanceof HostError) return outcome;
      throw new Error("it did not fail as it should", { cause: outcome });
    },
    async log() {
      await logs.close();
      return readFile(logs.of("s").path, "utf8");
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(sessions.map((session) => session.close()));
      await logs.close();
      await world[Symbol.asyncDispose]();
    },
  };
}

/** A program of one line, as an entry. */
export function script(code: string, rest: object = {}): object {
  return { command: process.execPath, args: ["-e", code], ...rest };
}
