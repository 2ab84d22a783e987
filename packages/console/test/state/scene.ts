/** A gateway in this process with real servers, and the state of its host as a console shows it. */

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createOpenedHost, type OpenedHost } from "@fairlead/core/host";
import { admitEverybody } from "@fairlead/gateway/admission";
import { Consent } from "@fairlead/gateway/consent/consent";
import { Inbox } from "@fairlead/gateway/consent/inbox";
import { createGateway, type Gateway, type Workspace } from "@fairlead/gateway/gateway";
import { type StdioEntry, temporaryFolder } from "@fairlead/test-servers";
import { connect, type Era, type JsonObject, type RequestHandler, type Session } from "@fairlead/wire";
import type { Commands, Params, Result, Verb } from "../../src/protocol/commands.ts";
import type { ConsoleEvent } from "../../src/protocol/events.ts";
import { ConsoleState, type ConsoleStateOptions } from "../../src/server/state/console-state.ts";

export interface SceneOptions {
  readonly servers: Readonly<Record<string, StdioEntry | JsonObject>>;
  /** Members of `fairlead` in the settings. */
  readonly fairlead?: object;
  /** Other members of the settings, such as `mcp`. */
  readonly settings?: object;
  /** The workspace's settings. */
  readonly workspace?: object;
  readonly trust?: boolean;
  /** The user's rules. Default: none, so Fairlead asks about the calls of models and clients. */
  readonly rules?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly state?: Partial<ConsoleStateOptions>;
}

export interface ConsoleScene extends AsyncDisposable {
  readonly folder: string;
  readonly home: string;
  readonly cwd: string;
  readonly state: ConsoleState;
  readonly host: OpenedHost;
  readonly gateway: Gateway;
  readonly workspace: Workspace;
  readonly inbox: Inbox;
  /** All events so far. */
  readonly events: ConsoleEvent[];
  /** Everything that has left the state so far, as JSON: answers, events and snapshots. */
  readonly sent: readonly string[];
  run<V extends Verb>(verb: V, params: Params<V>): Promise<Result<V>>;
  /** The first event that matches, also an earlier one. */
  event<E extends ConsoleEvent>(matches: (event: ConsoleEvent) => event is E): Promise<E>;
  event(matches: (event: ConsoleEvent) => boolean): Promise<ConsoleEvent>;
  /** A client of the gateway over HTTP. */
  client(options?: {
    readonly era?: Era;
    readonly capabilities?: JsonObject;
    readonly answer?: RequestHandler;
  }): Promise<Session>;
  setSettings(settings: object): Promise<void>;
}

export const allowAll = '[[rule]]\ntoolName = "*"\nmcpName = "*"\ndecision = "allow"\npriority = 500\n';

export async function consoleScene(options: SceneOptions): Promise<ConsoleScene> {
  const folder = await temporaryFolder();
  const home = join(folder.path, "home");
  const cwd = join(folder.path, "work");
  const stateFolder = join(home, ".fairlead");
  await mkdir(join(home, ".gemini/policies"), { recursive: true });
  await mkdir(join(cwd, ".gemini"), { recursive: true });
  const setSettings = (content: object): Promise<void> =>
    writeFile(join(home, ".gemini/settings.json"), JSON.stringify(content, null, 2));
  await setSettings({ mcpServers: options.servers, fairlead: options.fairlead, ...options.settings });
  if (options.workspace)
    await writeFile(join(cwd, ".gemini/settings.json"), JSON.stringify(options.workspace, null, 2));
  if (options.rules) await writeFile(join(home, ".gemini/policies/user.toml"), options.rules);
  const env = {
    ...process.env,
    FAIRLEAD_HOME: stateFolder,
    FAIRLEAD_SECRET_STORE: "file",
    GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none.json"),
    GEMINI_CLI_SYSTEM_DEFAULTS_PATH: join(folder.path, "none.json"),
    ...options.env,
  };
  const workspace: Workspace = { cwd, env };
  let host: OpenedHost | undefined;
  const gateway = createGateway({
    async createHost({ cwd: root }, hooks) {
      host = await createOpenedHost({
        ...hooks,
        environment: { env, home, cwd: root, platform: process.platform },
        ...(options.trust !== undefined && { trust: options.trust }),
        lazy: true,
        watch: true,
        recover: true,
      });
      return host;
    },
    consent: new Consent({ stateFolder }),
    stateFolder,
    version: "0.0.0",
  });
  const listening = await gateway.listen({ admit: admitEverybody({ name: "tester" }, workspace), workspace });
  if (host === undefined) throw new Error("the gateway has opened no host");
  const opened: OpenedHost = host;
  const inbox = new Inbox(stateFolder);
  const state = new ConsoleState({ host: opened, version: "1.2.3", inbox, ...options.state });
  const events: ConsoleEvent[] = [];
  const sent: string[] = [];
  const waiting = new Set<() => void>();
  const stop = state.onEvent((event) => {
    events.push(event);
    sent.push(JSON.stringify(event));
    for (const look of waiting) look();
  });
  const sessions: Session[] = [];
  const signal = new AbortController().signal;

  function event(matches: (event: ConsoleEvent) => boolean): Promise<ConsoleEvent> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = events.find(matches);
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  }

  return {
    folder: folder.path,
    home,
    cwd,
    state,
    host: opened,
    gateway,
    workspace,
    inbox,
    events,
    sent,
    async run<V extends Verb>(verb: V, params: Commands[V]["params"]): Promise<Commands[V]["result"]> {
      const result = await state.run(verb, params, { signal });
      sent.push(JSON.stringify(result));
      return result;
    },
    event: event as ConsoleScene["event"],
    async client({ era = "legacy", capabilities = {}, answer } = {}) {
      const session = await connect(
        { kind: "http", url: listening.url, headers: {} },
        {
          clientInfo: { name: "test", version: "0.0.0" },
          capabilities,
          era: { era, transport: "http" },
          ...(answer && { onRequest: answer }),
        },
      );
      sessions.push(session);
      return session;
    },
    setSettings,
    async [Symbol.asyncDispose]() {
      stop();
      await Promise.all(sessions.map((session) => session.close()));
      await state[Symbol.asyncDispose]();
      await gateway[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

type EventOf<T extends ConsoleEvent["type"]> = Extract<ConsoleEvent, { readonly type: T }>;

/** Matches events of one type. */
export function ofType<T extends ConsoleEvent["type"]>(
  type: T,
  matches: (event: EventOf<T>) => boolean = () => true,
): (event: ConsoleEvent) => event is EventOf<T> {
  return (event): event is EventOf<T> => event.type === type && matches(event as EventOf<T>);
}
