/**
 * Decides about requests of one host. Reads the rules, the saved approvals and the lock file when first needed, and
 * again after one of these files has changed.
 */

import type { Clock } from "../clock.ts";
import { demoName } from "../demo/name.ts";
import type { ApprovedTools, ServerIdentity, ToolApprovalStore } from "../policy/approvals.ts";
import { ConversationApprovals, createApprovalsOf } from "../policy/conversation-approvals.ts";
import type { Decisions, PolicyRequest, ToolDefinitions, ToolIdentity, ToolOnConnection } from "../policy/decide.ts";
import type { Policies, PolicyFlags } from "../policy/rules/load-policies.ts";
import type { PolicyFiles } from "../policy/rules/policy-files.ts";
import type { ApprovalMode, DecisionOutcome, RequestingUser } from "../policy/rules/rule.ts";
import type { ListedTools } from "../server/accepted-tools.ts";
import type { Servers } from "../server/servers.ts";
import { sandboxLine } from "../settings/define/describe-sandbox.ts";
import { flagsOfRequest } from "./flags.ts";
import type { HostLock } from "./lock.ts";
import type { GatewayHost, Host, HostNote } from "./types.ts";

/** The parts of the host and the options that decisions depend on. */
export interface HostDecisionsOptions {
  readonly servers: Servers;
  readonly mode: ApprovalMode;
  readonly interactive: boolean;
  readonly flags: PolicyFlags;
  /** The user for whom the host works. */
  readonly principal?: RequestingUser | undefined;
  /** Where saved approvals are kept. Default: a file of the state folder. */
  readonly savedApprovals?: ToolApprovalStore | undefined;
  readonly clock: Pick<Clock, "now">;
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number;
}

interface Loaded extends Policies {
  readonly version: number;
  readonly approved: ApprovedTools;
  readonly lock: HostLock;
}

/** Decides about the requests of one host. Reads no file until the first decision. */
export class HostDecisions {
  /** The approvals that the user has given in this run. */
  readonly approvals: ConversationApprovals = new ConversationApprovals();
  readonly #options: HostDecisionsOptions;
  readonly #servers: Servers;
  #files: PolicyFiles | undefined;
  /** What `#version` returned when the rules were last read. */
  #readVersion: string | undefined;
  #storeVersion: number | undefined;
  #readings = 0;
  #loading: Promise<Loaded> | undefined;
  #loaded: Loaded | undefined;
  #made: Decisions | undefined;

  constructor(options: HostDecisionsOptions) {
    this.#options = options;
    this.#servers = options.servers;
  }

  /** The rules and confirmations that apply now. If a rule file has changed, reads it first. */
  current(): Decisions | Promise<Decisions> {
    const following = this.#options.savedApprovals?.follow?.();
    return following === undefined ? this.#latest() : following.then(() => this.#latest());
  }

  #latest(): Decisions | Promise<Decisions> {
    return this.#made !== undefined && this.#isLoaded() ? this.#made : this.#reload();
  }

  readonly policies = async (): Promise<Policies> => {
    await this.current();
    return this.#load();
  };

  readonly explain: Host["explain"] = async (
    serverName,
    serverToolName,
    args,
    { kind = "tool", typed: isTyped = false, client, principal } = {},
  ) => {
    const decisions = await this.current();
    const who = client !== undefined ? "client" : isTyped ? "user" : "model";
    const server = this.#servers.find(serverName);
    const request = { who, client, principal, serverName, serverToolName, kind, args } as const;
    if (kind === "skill") await this.#loadSkill(serverName, serverToolName);
    const doubt = kind === "tool" ? await server?.expectedDoubt(serverToolName) : undefined;
    const { change, decision, matching } = decisions.explain(request, doubt);
    const outdated = kind === "tool" && change === undefined ? await server?.cacheDoubt(serverToolName) : undefined;
    const trust = kind === "tool" || kind === "resource" ? server?.entryTrust : undefined;
    return {
      decision,
      matching,
      isChanged: change !== undefined,
      isDeniedByName: decisions.isDeniedByName(request),
      trust,
      outdated,
    };
  };

  readonly changeOf: Host["changeOf"] = async (serverName, serverToolName, kind = "tool") => {
    const decisions = await this.current();
    if (kind === "skill") await this.#loadSkill(serverName, serverToolName);
    return decisions.explain({ serverName, serverToolName, kind }).change?.difference();
  };

  /** The decision if a model calls the tool, before the arguments are known; undefined until the rules are read. */
  readonly decisionOf = (tool: ToolIdentity): DecisionOutcome | undefined => this.#made?.decide(tool).decision;

  /** Whether a rule denies every call of the tool by a model. */
  readonly isDenied = (tool: ToolIdentity): boolean => this.decisionOf(tool) === "deny";

  /** Whether a rule of the user or administrator denies the skill to a model. */
  readonly isSkillDenied = (serverName: string, uri: string): boolean => {
    const found = this.#made?.decide({ serverName, serverToolName: uri, kind: "skill" });
    return found?.decision === "deny" && found.rule.origin.source !== "built_in";
  };

  readonly deniedTo: GatewayHost["deniedTo"] = async ({ name: client }) => {
    const decisions = await this.current();
    return ({ serverName, serverToolName, kind }) =>
      decisions.decide({ who: "client", client, serverName, serverToolName, kind }).decision === "deny";
  };

  readonly identify: GatewayHost["identify"] = (server) => {
    const { fingerprint } = this.#identityOf(server) ?? {};
    return fingerprint === undefined ? undefined : { fingerprint, root: this.#servers.configuration.locations.root };
  };

  /** Notes about servers that differ from the lock file. */
  notes(): readonly HostNote[] {
    return this.#loaded?.lock.notes() ?? [];
  }

  /** Reads the rules again after the configuration has changed. */
  async renew(): Promise<void> {
    if (this.#loading === undefined) return;
    this.#loading = undefined;
    await this.#load();
  }

  /** Whether the rules have been read and none of their files has changed since. */
  #isLoaded(): boolean {
    return (
      this.#loading !== undefined && this.#loaded?.version === this.#readings && this.#version() === this.#readVersion
    );
  }

  /** Changes with the policy files and with what is kept elsewhere. */
  #version(): string {
    return `${this.#files?.version(this.#servers.configuration.locations)} ${this.#options.savedApprovals?.version}`;
  }

  /**
   * Reads the rules again if a file has changed. A rule that is written while the host runs then applies to the next
   * request.
   */
  async #load(): Promise<Loaded> {
    const { createPolicyFiles } = await import("../policy/rules/policy-files.ts");
    this.#files ??= createPolicyFiles(this.#options.clock.now);
    const found = this.#version();
    if (found !== this.#readVersion) this.#loading = undefined;
    this.#readVersion = found;
    this.#loading ??= this.#read();
    const latest = await this.#loading;
    if (this.#loaded === undefined || latest.version > this.#loaded.version) this.#loaded = latest;
    return this.#loaded;
  }

  async #read(): Promise<Loaded> {
    this.#readings += 1;
    const version = this.#readings;
    const [{ loadPolicies }, { approvedTool, loadApprovedTools }, { loadLock }] = await Promise.all([
      import("../policy/rules/load-policies.ts"),
      import("../policy/approvals.ts"),
      import("./lock.ts"),
    ]);
    const servers = this.#servers;
    const current = servers.configuration;
    const { flags, now, savedApprovals: store } = this.#options;
    const identityOf = (server: string): ServerIdentity | undefined => this.#identityOf(server);
    const [policies, approved, lock] = await Promise.all([
      loadPolicies(current, flags),
      loadApprovedTools({ state: current.locations.state, store, identityOf, now: () => new Date(now()) }),
      loadLock(servers),
      this.#readAcceptedAgain(),
    ]);
    // If a later call has read the files again, this result is outdated.
    if (version === this.#readings) {
      // The newest approval comes last, because `expect` replaces earlier definitions of the tool.
      for (const approval of approved.all().toReversed()) {
        const { server, kind, tool, digest } = approval;
        if (kind === undefined) servers.find(server)?.accepted.expect(tool, { digest, tool: approvedTool(approval) });
      }
      servers.setLock(lock.of);
    }
    return {
      ...policies,
      version,
      problems: [...policies.problems, ...approved.problems, ...lock.problems],
      approved,
      lock,
    };
  }

  /** What the user has accepted elsewhere needs no answer here. */
  async #readAcceptedAgain(): Promise<void> {
    const found = this.#options.savedApprovals?.version;
    const isFirst = this.#storeVersion === undefined;
    if (found === this.#storeVersion) return;
    this.#storeVersion = found;
    if (!isFirst) await Promise.all(this.#servers.all().map((server) => server.readAcceptedAgain()));
  }

  async #reload(): Promise<Decisions> {
    const [policy, first] = await Promise.all([import("../policy/decide.ts"), this.#load()]);
    const servers = this.#servers;
    const { mode, interactive, principal } = this.#options;
    this.#made ??= new policy.Decisions({
      policy: () => this.#loaded ?? first,
      approvals: this.approvals,
      approvalsOf: createApprovalsOf(this.approvals),
      configurationVersion: () => servers.version,
      tools: definitionsOf(servers),
      trustsAnnotations: (server) => servers.find(server)?.definition?.extras.trustAnnotations ?? false,
      identityOf: (server) => this.#identityOf(server),
      accept: (request) => this.#accept(request),
      acceptView: async (resource) => {
        const server = servers.find(resource.serverName);
        server?.views.accept(viewTools(servers, resource), resource.view);
        await server?.saveAccepted();
      },
      mode,
      interactive,
      principal,
    });
    return this.#made;
  }

  #identityOf(server: string): ServerIdentity | undefined {
    const definition = this.#servers.find(server)?.definition;
    if (server === demoName && definition === undefined) return { server, fingerprint: demoName };
    if (definition === undefined) return undefined;
    const { fingerprint, approvalFolder } = definition;
    return { server, fingerprint, workspace: approvalFolder };
  }

  /** Reads what was accepted of a server's skills, and of this skill whole. */
  async #loadSkill(serverName: string, uri: string): Promise<void> {
    const skills = this.#servers.find(serverName)?.skills;
    await skills?.load();
    const skill = skills?.get(uri);
    if (skill !== undefined) await skills?.loadAccepted(skill);
  }

  async #accept(request: PolicyRequest): Promise<void> {
    const { serverName, serverToolName, connection } = request;
    const server = this.#servers.find(serverName);
    const approved = this.#loaded?.approved;
    if (request.kind === "skill") {
      const skill = server?.skills.get(serverToolName);
      await Promise.all([
        skill && server?.skills.accept(skill),
        skill?.digest === undefined ? undefined : approved?.forgetOthers(serverName, skill),
      ]);
      return;
    }
    const definition = server?.listedBy(connection).toolOf(serverToolName);
    await Promise.all([
      server?.accept(serverToolName, connection),
      definition && approved?.forgetOthers(serverName, definition),
    ]);
  }
}

/** Finds the definitions of tools, prompts, skills and views among the servers of a host. */
function definitionsOf(servers: Servers): ToolDefinitions {
  const listed = ({ serverName, connection }: ToolOnConnection): ListedTools | undefined =>
    servers.find(serverName)?.listedBy(connection);
  return {
    toolOf: (tool) => listed(tool)?.toolOf(tool.serverToolName),
    toolsOf: (server) => servers.find(server)?.listedBy().tools() ?? [],
    changeOf: (tool) => listed(tool)?.changeOf(tool.serverToolName),
    flagsOf: (request) => {
      const isTool = (request.kind ?? "tool") === "tool";
      return flagsOfRequest(request, servers, isTool ? listed(request)?.toolOf(request.serverToolName) : undefined);
    },
    sandboxOf(server) {
      const definition = servers.find(server)?.definition;
      return definition?.sandbox === undefined ? undefined : sandboxLine(definition);
    },
    promptChangeOf: (prompt) => servers.find(prompt.serverName)?.promptChangeOf(prompt.serverToolName),
    skillOf: ({ serverName, serverToolName }) => servers.find(serverName)?.skills.get(serverToolName),
    sharesName({ serverName, serverToolName }) {
      const skills = servers.find(serverName)?.skills;
      const skill = skills?.get(serverToolName);
      return skill !== undefined && skills?.sharesName(skill) === true;
    },
    skillChangeOf({ serverName, serverToolName }) {
      const skills = servers.find(serverName)?.skills;
      const skill = skills?.get(serverToolName);
      const change = skill && skills?.changeOf(skill);
      return change && { difference: () => change };
    },
    toolsWithView: (resource) => viewTools(servers, resource),
    viewChangeOf: (resource) =>
      servers.find(resource.serverName)?.views.changeOf(viewTools(servers, resource), resource.view),
    isLockedOut: (tool) => listed(tool)?.isLockedOut(tool.serverToolName) ?? false,
    isSkillLockedOut({ serverName, serverToolName }) {
      const skills = servers.find(serverName)?.skills;
      const skill = skills?.get(serverToolName);
      return skill !== undefined && skills?.isLockedOut(skill) === true;
    },
  };
}

function viewTools(servers: Servers, { serverName, serverToolName, connection }: ToolOnConnection): readonly string[] {
  return servers.find(serverName)?.toolsWithView(serverToolName, connection) ?? [];
}
