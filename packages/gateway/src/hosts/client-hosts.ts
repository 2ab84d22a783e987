/**
 * The hosts behind the clients: one shared host for each workspace, and a private one for a client whose servers must
 * not be shared with others.
 */

import type { Clock } from "@fairlead/core/clock";
import type { DeclaredCapabilities, Host, QuestionHandler } from "@fairlead/core/host/types";
import { canonicalJson } from "@fairlead/core/text/canonical-json";
import type { ConfigurationOptions } from "@fairlead/core/trust/configuration";
import type { JsonObject } from "@fairlead/wire";
import { createListNews, type ListNews } from "../lists/list-news.ts";

/** The folder and the environment in which a client runs. Clients with equal ones share a host. */
export interface Workspace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The client's options that choose the settings. */
  readonly options?: Pick<ConfigurationOptions, "root" | "settingsFile" | "workspace" | "trustWorkspace"> | undefined;
}

/** What a gateway's host declares to servers, and who answers questions that belong to no request. */
export interface HostHooks {
  readonly declare: DeclaredCapabilities;
  readonly onQuestion: QuestionHandler;
}

export type CreateGatewayHost = (workspace: Workspace, hooks: HostHooks) => Promise<Host>;

/** The shared host of a workspace, with the news of its lists. */
export interface SharedHost {
  readonly host: Host;
  readonly news: ListNews;
}

/** The hosts that one client uses. */
export interface ClientHosts {
  readonly shared: SharedHost;
  /** The host that runs requests of this client to that server. */
  hostOf(server: string, capabilities: JsonObject): Promise<Host>;
  /** Tells the client's own servers that its roots have changed. */
  rootsChanged(): Promise<void>;
  /** Ends the client's private host. */
  close(): Promise<void>;
}

export interface HostPool extends AsyncDisposable {
  open(workspace: Workspace): Promise<ClientHosts>;
  /** The states of the servers of all shared hosts. */
  hosts(): readonly Host[];
}

export interface HostPoolOptions {
  readonly createHost: CreateGatewayHost;
  readonly clock: Clock;
}

/** How long the host of a workspace stays after its last client, in milliseconds. */
const stays = 300_000;

interface Shared extends SharedHost {
  clients: number;
  callOff: (() => void) | undefined;
}

export function createHostPool({ createHost, clock }: HostPoolOptions): HostPool {
  const shared = new Map<string, Promise<Shared>>();
  const opened: Shared[] = [];

  async function openShared(workspace: Workspace): Promise<Shared> {
    const host = await createHost(workspace, {
      declare: { elicitation: true, sampling: true, roots: false },
      onQuestion: async (server, method) => {
        host.noteAsksBack(server);
        throw new Error(`${method} of "${server}" was not answered: which client is meant cannot be told`);
      },
    });
    reloadOnChange(host);
    const made = { host, news: createListNews(host.on, clock), clients: 0, callOff: undefined };
    opened.push(made);
    return made;
  }

  async function end(key: string, { host, news }: SharedHost): Promise<void> {
    shared.delete(key);
    opened.splice(
      opened.findIndex((each) => each.host === host),
      1,
    );
    news.close();
    await host[Symbol.asyncDispose]();
  }

  return {
    async open(workspace) {
      const key = keyOf(workspace);
      const opening = shared.get(key) ?? openShared(workspace);
      shared.set(key, opening);
      const found = await opening.catch((error: unknown) => {
        shared.delete(key);
        throw error;
      });
      found.clients += 1;
      found.callOff?.();
      found.callOff = undefined;
      let own: Promise<Host> | undefined;

      function openPrivate(capabilities: JsonObject): Promise<Host> {
        const declares = (name: string): boolean => capabilities[name] !== undefined;
        return createHost(workspace, {
          declare: {
            elicitation: declares("elicitation"),
            sampling: declares("sampling"),
            roots: declares("roots"),
          },
          onQuestion: async (server, method) => {
            throw new Error(`${method} of "${server}" was not answered: no request of the client is open`);
          },
        }).then((host) => {
          reloadOnChange(host);
          // The lists of a private server come from its cached catalog, which the shared host reads.
          host.on("catalog", ({ lists, server }) => {
            void found.host.recall([server]).then(() => found.news.changed(lists, server));
          });
          host.on("resource_updated", ({ server, uri }) => found.news.updated(server, uri));
          return host;
        });
      }

      return {
        shared: found,
        async hostOf(server, capabilities) {
          if (found.host.shareOf(server) === "all") return found.host;
          own ??= openPrivate(capabilities);
          return own;
        },
        async rootsChanged() {
          await (await own)?.rootsChanged();
        },
        async close() {
          found.clients -= 1;
          if (found.clients === 0) found.callOff = clock.after(stays, () => void end(key, found), { background: true });
          await (await own)?.[Symbol.asyncDispose]();
        },
      };
    },
    hosts: () => opened.map(({ host }) => host),
    async [Symbol.asyncDispose]() {
      await Promise.all(
        [...shared].map(async ([key, opening]) => {
          const made = await opening;
          made.callOff?.();
          await end(key, made);
        }),
      );
    },
  };
}

function keyOf({ cwd, env, options }: Workspace): string {
  return canonicalJson([cwd, env, options ?? {}]);
}

/** Settings that cannot be read change nothing. */
function reloadOnChange(host: Host): void {
  host.on("settings_changed", () => void Promise.allSettled([host.reload()]));
}
