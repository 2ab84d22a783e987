/**
 * The parts of the team gateway that the server joins. Each adds what it has here: what the host of a user gets, pages
 * beside MCP, what a request waits for, and what `/metrics` shows.
 */

import type { Clock } from "@fairlead/core";
import type { RunningHostOptions } from "@fairlead/core/host";
import type { Environment } from "@fairlead/core/settings";
import { type OwnTelemetry, prometheusText } from "@fairlead/core/telemetry";
import type { AsksPerson } from "@fairlead/gateway/consent/consent";
import type { SignInPort } from "@fairlead/gateway/questions/sign-in-request";
import type { Principal } from "@fairlead/gateway/workspaces";
import type { HttpPage } from "@fairlead/wire/serve";
import { errorMessage } from "@fairlead/wire/text";
import type { Callers } from "../auth/admit-caller.ts";
import type { RevokedUsers } from "../auth/revoked-users.ts";
import { ApprovalPages } from "../people/approval-pages.ts";
import { TeamConsent } from "../people/team-consent.ts";
import type { TeamSettings } from "../settings/team-settings.ts";
import { TeamSignIns } from "../sign-in/team-sign-ins.ts";
import type { Owner } from "../store/owner.ts";
import type { TeamStore } from "../store/store.ts";
import type { Log } from "./log.ts";
import type { TenantConfigurations } from "./tenant-configurations.ts";

/** The user of a request. */
export interface TeamUser extends Owner {
  /** Sorted. */
  readonly groups: readonly string[];
}

/** What the parts share. */
export interface TeamContext {
  readonly settings: TeamSettings;
  readonly store: TeamStore;
  readonly callers: Callers;
  readonly revoked: RevokedUsers;
  readonly configurations: TenantConfigurations;
  /** The number of this replica, as in rows of the ledger. */
  readonly replica: number;
  /** Fairlead's version. */
  readonly version: string;
  /** The state folder of this replica. What is in it can be lost. */
  readonly folder: string;
  readonly environment: Environment;
  /** The spans and metrics of this replica. Absent if neither the environment nor the settings ask for them. */
  readonly telemetry: OwnTelemetry | undefined;
  readonly log: Log;
  readonly clock: Clock;
  /** In milliseconds since 1970. */
  readonly now: () => number;
}

/** What the host of a user gets beside its ledger, such as the store for sign-ins. */
export interface HostParts {
  readonly options: Partial<RunningHostOptions>;
  /** Called when the host has ended. */
  readonly close?: () => void;
}

/** What the parts add to the server. */
export interface TeamParts extends AsyncDisposable {
  readonly hostParts: (user: TeamUser) => HostParts;
  /** Asks people about requests of clients. */
  readonly consent: AsksPerson;
  /** How users sign in to servers. */
  readonly signIns: SignInPort;
  /** Answers requests to a path that is not MCP. Asked after the pages of the server. */
  readonly pageAt: (path: string) => HttpPage | undefined;
  /**
   * Waits until a user may send a request to a server. It is decided and confirmed, and will be sent.
   *
   * @throws HostError `busy`
   */
  readonly take: (user: TeamUser, server: string) => Promise<void>;
  /** The text of `/metrics`. */
  readonly metrics: () => string | Promise<string>;
}

export async function openTeamParts(context: TeamContext): Promise<TeamParts> {
  const { settings, store, revoked, configurations, environment, clock, now, log } = context;
  const { People } = await import("../people/people.ts");
  const people = new People(context);
  const consent = new TeamConsent({ questions: store.questions, hints: store.hints, url: settings.url, clock, now });
  const onError = (error: unknown): void => log("error", "page_failed", { message: errorMessage(error) });
  const signIns = new TeamSignIns({
    url: settings.url,
    store,
    ring: settings.ring,
    issuers: settings.auth.issuers,
    revoked,
    configuration: async (tenant) => (await configurations.of(tenant)).configuration,
    env: environment.env,
    clock,
    now,
    onError,
  });
  const approvals = new ApprovalPages({
    url: settings.url,
    store,
    ring: settings.ring,
    sessions: signIns.sessions,
    logIn: (returnTo, issuer, cookies) => signIns.logIn(returnTo, issuer, cookies),
    now,
    onError,
  });
  return {
    hostParts: (user) => {
      const { options, close } = people.hostParts(user);
      return { options: { ...options, signIns: signIns.of(user) }, close };
    },
    consent,
    signIns: signIns.port,
    pageAt: (path) => signIns.pageAt(path) ?? approvals.pageAt(path),
    take: (user, server) => people.take(user, server),
    metrics: () => (context.telemetry === undefined ? "" : prometheusText(context.telemetry.metrics.collect())),
    async [Symbol.asyncDispose]() {
      // The gateway disposes the consent.
      people[Symbol.dispose]();
      await signIns[Symbol.asyncDispose]();
    },
  };
}

export function toUser({ tenant, id, groups }: Principal): TeamUser {
  return { tenant, principal: id, groups };
}
