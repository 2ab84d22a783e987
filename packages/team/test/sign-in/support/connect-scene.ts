/** A team's pages for sign-ins in tests: two replicas behind a balancer, PostgreSQL, the company's issuer, a server. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@fairlead/core";
import { type Configuration, loadConfiguration } from "@fairlead/core/trust";
import {
  type AuthorizationServer,
  type AuthorizationSettings,
  authorizationServer,
  createDatabase,
  type GuardedServer,
  guardedServer,
  type PostgresAddress,
  type TemporaryFolder,
  temporaryFolder,
} from "@fairlead/test-servers";
import { listenHttp } from "@fairlead/wire/serve";
import { TeamSignIns } from "../../../src/sign-in/team-sign-ins.ts";
import type { Owner } from "../../../src/store/owner.ts";
import type { TeamStore } from "../../../src/store/store.ts";
import { newRing, openStore } from "../../support/open-store.ts";
import { type GatewayFront, gatewayFront } from "./gateway-front.ts";
import { type IdentityProvider, identityProvider } from "./identity-provider.ts";

export interface ConnectScene extends AsyncDisposable {
  readonly front: GatewayFront;
  readonly company: IdentityProvider;
  /** The authorization server of the MCP server. */
  readonly issuer: AuthorizationServer;
  readonly server: GuardedServer;
  readonly store: TeamStore;
  /** The replicas. */
  readonly signIns: readonly TeamSignIns[];
  readonly errors: readonly unknown[];
  /** The principal of a user of the company. */
  owner(user: string): Owner;
  /** The link that a client of this user shows. */
  link(user: string, client?: string, server?: string): string;
}

export interface ConnectSceneOptions {
  readonly authorization?: Partial<AuthorizationSettings>;
  /** More entries of `mcpServers`. */
  readonly servers?: (scene: {
    readonly issuer: AuthorizationServer;
    readonly server: GuardedServer;
  }) => Readonly<Record<string, unknown>>;
  /** Settings of `fairlead`. */
  readonly fairlead?: (front: string) => Readonly<Record<string, unknown>>;
  /** Changes the settings of the company's issuer. */
  readonly hasLogin?: boolean;
}

export async function connectScene(
  postgres: PostgresAddress,
  { authorization = {}, servers = () => ({}), fairlead = () => ({}), hasLogin = true }: ConnectSceneOptions = {},
): Promise<ConnectScene> {
  const closing: (() => PromiseLike<unknown>)[] = [];
  const use = <T extends AsyncDisposable>(value: T): T => {
    closing.push(() => value[Symbol.asyncDispose]());
    return value;
  };
  const front = use(await gatewayFront());
  const company = use(await identityProvider(front.url));
  const issuer = use(await authorizationServer({ consent: "automatic", ...authorization }));
  const server = use(await guardedServer({ authorization: issuer, scopes: ["read"] }));
  const folder: TemporaryFolder = use(await temporaryFolder());
  const mcpServers = { notes: { httpUrl: server.url }, ...servers({ issuer, server }) };
  const configuration = await loadTeamConfiguration(folder.path, { mcpServers, fairlead: fairlead(front.url) });
  const database = use(await createDatabase(postgres));
  const ring = newRing();
  const errors: unknown[] = [];
  const replicas: { readonly store: TeamStore; readonly signIns: TeamSignIns; readonly port: number }[] = [];
  const { browser: _, ...withoutBrowser } = company.settings;
  for (let count = 0; count < 2; count += 1) {
    const store = await openStore(database, { ring });
    closing.push(() => store.close());
    const signIns = use(
      new TeamSignIns({
        url: front.url,
        store,
        ring,
        issuers: [hasLogin ? company.settings : withoutBrowser],
        revoked: { has: () => false },
        configuration: async () => configuration,
        env: {},
        clock: systemClock,
        onError: (error) => errors.push(error),
      }),
    );
    const listener = await listenHttp({
      eras: ["modern"],
      names: { hosts: [front.host], origins: [front.url] },
      pageAt: (path) => signIns.pageAt(path),
      onClient: () => undefined,
    });
    closing.push(() => listener.close());
    replicas.push({ store, signIns, port: Number(new URL(listener.url).port) });
  }
  front.replicas = replicas.map(({ port }) => port);
  const [first] = replicas;
  if (first === undefined) throw new Error("no replica");
  const owner = (user: string): Owner => ({ tenant: 1, principal: `${company.issuer}#${user}` });
  return {
    front,
    company,
    issuer,
    server,
    store: first.store,
    signIns: replicas.map(({ signIns }) => signIns),
    errors,
    owner,
    link(user, client = "claude-code", name = "notes") {
      const link = first.signIns.linkFor({ owner: owner(user), client, server: name, scopes: [] });
      if (link === undefined) throw new Error("no link");
      return link;
    },
    async [Symbol.asyncDispose]() {
      for (const close of closing.reverse()) await close();
    },
  };
}

async function loadTeamConfiguration(folder: string, settings: object): Promise<Configuration> {
  const settingsFile = join(folder, "settings.json");
  await writeFile(settingsFile, JSON.stringify(settings));
  const environment = { env: {}, home: folder, cwd: folder, platform: process.platform };
  return loadConfiguration({ environment, settingsFile, workspace: false });
}
