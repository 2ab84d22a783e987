/** A gateway in this process, with real servers behind it and clients of both protocol eras before it. */

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@fairlead/core/clock";
import { createOpenedHost, openHost } from "@fairlead/core/host";
import type { Telemetry } from "@fairlead/core/telemetry/telemetry";
import { loadConfiguration } from "@fairlead/core/trust";
import { type StdioEntry, temporaryFolder } from "@fairlead/test-servers";
import { connect, type Era, type JsonObject, type RequestHandler, type Session } from "@fairlead/wire";
import { type AdmittedClient, admitByToken, admitEverybody } from "../../src/admission.ts";
import type { HeapGrowth } from "../../src/bridge/heap-growth.ts";
import { Consent } from "../../src/consent/consent.ts";
import { Inbox } from "../../src/consent/inbox.ts";
import { createGateway, type Gateway, type Workspace } from "../../src/gateway.ts";
import type { ClientTokens } from "../../src/tokens/client-tokens.ts";
import { type ScriptedPages, scriptedPages } from "./scripted-pages.ts";
import { type SteppedClock, steppedClock } from "./stepped-clock.ts";

export interface SceneOptions {
  readonly servers: Readonly<Record<string, StdioEntry | { readonly httpUrl: string }>>;
  /** Members of `fairlead` in the settings. */
  readonly fairlead?: object;
  /** Whether the workspace folder is trusted. Default: no. */
  readonly trust?: boolean;
  /** The user's rules. Default: everything is allowed. */
  readonly rules?: string;
  /** Default: a clock of its own, on which no limit passes. */
  readonly clock?: SteppedClock;
  /** The clock of the hosts. Default: the system's. */
  readonly hostClock?: Clock;
  readonly listen?: {
    readonly client?: AdmittedClient["client"];
    /** Default: every program may connect, as `tester`. */
    readonly tokens?: ClientTokens;
  };
  readonly heap?: HeapGrowth;
  /** Where the hosts' spans go. Default: nowhere. */
  readonly telemetry?: Telemetry;
  /** The home of an earlier scene, which outlives this one. */
  readonly home?: string;
  /** The workspace folder of an earlier scene, which outlives this one. */
  readonly work?: string;
  /** Further variables of the environment. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface ClientOptions {
  readonly era: Era;
  /** The one server, `/mcp/<server>`. Default: all. */
  readonly only?: string;
  readonly capabilities?: JsonObject;
  readonly answer?: RequestHandler;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface GatewayScene extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly workspace: Workspace;
  readonly url: string;
  readonly inbox: Inbox;
  readonly pages: ScriptedPages;
  readonly state: string;
  readonly home: string;
  /** A client over HTTP, with our own wire. It is closed with the scene. */
  client(options: ClientOptions): Promise<Session>;
  /** Writes the user's settings. */
  setSettings(settings: object): Promise<void>;
  /** Writes the user's rules. */
  setRules(rules: string): Promise<void>;
}

export const allowAll = ["tool", "resource", "prompt", "sampling", "skill"]
  .map((kind) =>
    kind === "tool"
      ? '[[rule]]\ntoolName = "*"\nmcpName = "*"\ndecision = "allow"\npriority = 500\n'
      : `[[rule]]\nmcpName = "*"\nkind = "${kind}"\ndecision = "allow"\npriority = 500\n`,
  )
  .join("\n");

export async function gatewayScene(options: SceneOptions): Promise<GatewayScene> {
  const { servers, fairlead = {}, rules = allowAll, clock = steppedClock() } = options;
  const folder = await temporaryFolder();
  const home = options.home ?? join(folder.path, "home");
  const state = join(home, ".fairlead");
  const settings = join(home, ".gemini");
  await mkdir(join(settings, "policies"), { recursive: true });
  const setRules = (text: string): Promise<void> => writeFile(join(settings, "policies", "user.toml"), text);
  const setSettings = (content: object): Promise<void> =>
    writeFile(join(settings, "settings.json"), JSON.stringify(content));
  await setSettings({ mcpServers: servers, fairlead });
  await setRules(rules);
  const cwd = options.work ?? join(folder.path, "work");
  await mkdir(cwd, { recursive: true });
  const none = join(folder.path, "none.json");
  const env = {
    ...process.env,
    FAIRLEAD_HOME: state,
    FAIRLEAD_SECRET_STORE: "file",
    ...(options.trust && { FAIRLEAD_TRUST_WORKSPACE: "true" }),
    GEMINI_CLI_SYSTEM_SETTINGS_PATH: none,
    GEMINI_CLI_SYSTEM_DEFAULTS_PATH: none,
    ...options.env,
  };
  const workspace = { cwd, env };
  const time = { clock, now: clock.date };
  const pages = scriptedPages();
  const gateway = createGateway({
    async createHost({ cwd }, hooks) {
      const environment = { env, home, cwd, platform: process.platform };
      const given = { ...hooks, lazy: true, watch: true, ...(options.hostClock && { clock: options.hostClock }) };
      if (options.telemetry === undefined) return createOpenedHost({ ...given, environment });
      const { telemetry } = options;
      const from = { environment };
      const host = openHost(await loadConfiguration(from), { ...given, from, recover: true, telemetry });
      await Promise.all([host.recall(), host.policy()]);
      return host;
    },
    consent: new Consent({ stateFolder: state, pages, ...time }),
    stateFolder: state,
    version: "0.0.0",
    ...time,
    ...(options.heap && { heap: options.heap }),
  });
  const sessions: Session[] = [];
  const { tokens, client = { name: "tester" } } = options.listen ?? {};
  const admit = tokens ? admitByToken(tokens, workspace, client) : admitEverybody(client, workspace);
  const listening = await gateway.listen({ admit, workspace });
  return {
    gateway,
    workspace,
    url: listening.url,
    state,
    home,
    inbox: new Inbox(state, time),
    pages,
    async client({ era, only, capabilities = {}, answer, headers = {} }) {
      const url = only === undefined ? listening.url : `${listening.url}/${only}`;
      const session = await connect(
        { kind: "http", url, headers },
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
    setRules,
    setSettings,
    async [Symbol.asyncDispose]() {
      await Promise.all(sessions.map((session) => session.close()));
      await gateway[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
