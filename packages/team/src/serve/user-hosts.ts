/** Creates the host of a user: own servers, connections, catalogs and sign-ins. No other user's requests use it. */

import { hash } from "node:crypto";
import { join } from "node:path";
import { HostError } from "@fairlead/core";
import { type OpenedHost, openHost } from "@fairlead/core/host";
import type { Configuration } from "@fairlead/core/trust";
import type { CreateGatewayHost, Workspace } from "@fairlead/gateway/workspaces";
import { LargeMessages } from "@fairlead/wire";
import type { ListChanges } from "./list-changes.ts";
import { TeamLedger } from "./team-ledger.ts";
import { type TeamContext, type TeamParts, type TeamUser, toUser } from "./team-parts.ts";

export class UserHosts {
  readonly #context: TeamContext;
  readonly #parts: TeamParts;
  readonly #changes: ListChanges;
  /** One limit for the process: its hosts hold the results of all servers in the same memory. */
  readonly #largeMessages = new LargeMessages();
  /** The versions of the configurations that hosts apply. */
  readonly #versions = new WeakMap<Configuration, number>();

  constructor(context: TeamContext, parts: TeamParts, changes: ListChanges) {
    this.#context = context;
    this.#parts = parts;
    this.#changes = changes;
  }

  readonly create: CreateGatewayHost = async (workspace, hooks) => {
    const { store, settings, configurations, replica, telemetry, log, clock, now } = this.#context;
    const user = userOf(workspace);
    await configurations.of(user.tenant);
    const configuration = this.configurationOf(workspace);
    const { options, close } = this.#parts.hostParts(user);
    const host: OpenedHost = openHost(configuration, {
      ...hooks,
      principal: { user: user.principal, groups: user.groups },
      telemetry,
      ledger: new TeamLedger({
        store: store.ledger,
        ring: settings.ring,
        owner: { tenant: user.tenant, principal: user.principal },
        replica,
        isStrict: settings.store.mode === "strict",
        configVersion: () => this.#versions.get(host.configuration) ?? 0,
        keepArguments: () => host.configuration.settings.host.audit.arguments,
        take: async (server) => {
          configurations.checkAge(user.tenant);
          await this.#parts.take(user, server);
        },
        log,
        clock,
        now,
      }),
      clock,
      now,
      recover: true,
      lazy: true,
      largeMessages: this.#largeMessages,
      ...options,
    });
    await Promise.all([host.recall(), host.policy()]);
    const unfollow = this.#changes.follow(user, host);
    return endingWith(host, () => {
      unfollow();
      close?.();
    });
  };

  /** What the host of a workspace applies now. */
  configurationOf(workspace: Workspace): Configuration {
    const user = userOf(workspace);
    const { configurations, folder } = this.#context;
    const current = configurations.current(user.tenant);
    if (current === undefined) throw new HostError("internal", `tenant ${user.tenant} is not open`);
    const { configuration, version } = current;
    // A host keeps its catalogs and logs there. No two users share a folder, so whatever is there is never shared.
    const state = join(folder, "users", folderName(user));
    const own = { ...configuration, locations: { ...configuration.locations, state } };
    this.#versions.set(own, version);
    return own;
  }
}

/** The same host, but its parts are closed after it. */
function endingWith(host: OpenedHost, close: () => void): OpenedHost {
  const end = async (): Promise<void> => {
    await host[Symbol.asyncDispose]();
    close();
  };
  return Object.create(host, { [Symbol.asyncDispose]: { value: end } }) as OpenedHost;
}

function userOf({ principal }: Workspace): TeamUser {
  if (principal === undefined) throw new HostError("internal", "a request of a team has no user");
  return toUser(principal);
}

function folderName({ tenant, principal, groups }: TeamUser): string {
  return hash("sha256", JSON.stringify([tenant, principal, groups]), "hex").slice(0, 32);
}
