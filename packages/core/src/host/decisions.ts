/**
 * Decides about requests of one host. Reads the rules, the saved approvals and the lock file when first needed, and
 * again after one of these files has changed.
 */

import type { Clock } from "../clock.ts";
import { demoName } from "../demo/name.ts";
import type { ApprovedTools, ServerIdentity } from "../policy/approvals.ts";
import { ConversationApprovals, createApprovalsOf } from "../policy/conversation-approvals.ts";
import type {
  ChangedDefinition,
  Decisions,
  PolicyRequest,
  ReadView,
  ToolIdentity,
  ToolOnConnection,
} from "../policy/decide.ts";
import type { Policies, PolicyFlags } from "../policy/rules/load-policies.ts";
import type { PolicyFiles } from "../policy/rules/policy-files.ts";
import type { ApprovalMode, DecisionOutcome } from "../policy/rules/rule.ts";
import type { ListedTools } from "../server/accepted-tools.ts";
import type { Servers } from "../server/servers.ts";
import type { HostLock } from "./lock.ts";
import type { GatewayHost, Host, HostNote } from "./types.ts";

/** The parts of the host and the options that decisions depend on. */
export interface HostDecisionsOptions {
  readonly servers: Servers;
  readonly mode: ApprovalMode;
  readonly interactive: boolean;
  readonly flags: PolicyFlags;
  readonly clock: Pick<Clock, "now">;
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number;
}

/** Decides about the requests of one host. */
export interface HostDecisions {
  /** The rules and confirmations that apply now. If a rule file has changed, reads it first. */
  readonly current: () => Decisions | Promise<Decisions>;
  readonly policies: () => Promise<Policies>;
  /** The approvals that the user has given in this run. */
  readonly approvals: ConversationApprovals;
  readonly explain: Host["explain"];
  readonly changeOf: Host["changeOf"];
  /** The decision if a model calls the tool, before the arguments are known; undefined until the rules are read. */
  readonly decisionOf: (tool: ToolIdentity) => DecisionOutcome | undefined;
  /** Whether a rule denies every call of the tool by a model. */
  readonly isDenied: (tool: ToolIdentity) => boolean;
  /** Whether a rule of the user or administrator denies the skill to a model. */
  readonly isSkillDenied: (server: string, uri: string) => boolean;
  readonly deniedTo: GatewayHost["deniedTo"];
  readonly identify: GatewayHost["identify"];
  /** Notes about servers that differ from the lock file. */
  readonly notes: () => readonly HostNote[];
  /** Reads the rules again after the configuration has changed. */
  readonly renew: () => Promise<void>;
}

interface Loaded extends Policies {
  readonly version: number;
  readonly approved: ApprovedTools;
  readonly lock: HostLock;
}

/** Creates the decisions of a host. Reads no file until the first decision. */
export function createHostDecisions(options: HostDecisionsOptions): HostDecisions {
  const { servers, mode, interactive, flags, clock, now } = options;
  const approvals = new ConversationApprovals();
  const approvalsOf = createApprovalsOf(approvals);
  let files: PolicyFiles | undefined;
  let filesVersion: number | undefined;
  let readings = 0;
  let loading: Promise<Loaded> | undefined;
  let loaded: Loaded | undefined;
  let made: Decisions | undefined;

  function identityOf(server: string): ServerIdentity | undefined {
    const definition = servers.find(server)?.definition;
    if (server === demoName && definition === undefined) return { server, fingerprint: demoName };
    if (definition === undefined) return undefined;
    const { fingerprint, approvalFolder } = definition;
    return { server, fingerprint, workspace: approvalFolder };
  }

  async function read(): Promise<Loaded> {
    readings += 1;
    const version = readings;
    const [{ loadPolicies }, { approvedTool, loadApprovedTools }, { loadLock }] = await Promise.all([
      import("../policy/rules/load-policies.ts"),
      import("../policy/approvals.ts"),
      import("./lock.ts"),
    ]);
    const current = servers.configuration;
    const [policies, approved, lock] = await Promise.all([
      loadPolicies(current, flags),
      loadApprovedTools({ state: current.locations.state, identityOf, now: () => new Date(now()) }),
      loadLock(servers),
    ]);
    // If a later call has read the files again, this result is outdated.
    if (version === readings) {
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

  /** Whether the rules have been read and none of their files has changed since. */
  function isLoaded(): boolean {
    return (
      loading !== undefined &&
      loaded?.version === readings &&
      files?.version(servers.configuration.locations) === filesVersion
    );
  }

  /**
   * Reads the rules again if a file has changed. A rule that is written while the host runs then applies to the next
   * request.
   */
  async function load(): Promise<Loaded> {
    const { createPolicyFiles } = await import("../policy/rules/policy-files.ts");
    files ??= createPolicyFiles(clock.now);
    const found = files.version(servers.configuration.locations);
    if (found !== filesVersion) loading = undefined;
    filesVersion = found;
    loading ??= read();
    const latest = await loading;
    if (loaded === undefined || latest.version > loaded.version) loaded = latest;
    return loaded;
  }

  async function accept(request: PolicyRequest): Promise<void> {
    const { serverName, serverToolName, connection } = request;
    if (request.kind === "skill") return acceptSkill(request);
    const definition = listed(request)?.toolOf(serverToolName);
    await Promise.all([
      servers.find(serverName)?.accept(serverToolName, connection),
      definition && loaded?.approved.forgetOthers(serverName, definition),
    ]);
  }

  async function acceptSkill({ serverName, serverToolName }: ToolIdentity): Promise<void> {
    const skills = servers.find(serverName)?.skills;
    const skill = skills?.get(serverToolName);
    if (skill?.digest === undefined) return;
    await Promise.all([skills?.accept(skill), loaded?.approved.forgetOthers(serverName, skill)]);
  }

  /** Reads what was accepted of a server's skills, and of this skill whole. */
  async function loadSkill(serverName: string, uri: string): Promise<void> {
    const skills = servers.find(serverName)?.skills;
    await skills?.load();
    const skill = skills?.get(uri);
    if (skill !== undefined) await skills?.loadAccepted(skill);
  }

  function sharesName(serverName: string, uri: string): boolean {
    const skills = servers.find(serverName)?.skills;
    const skill = skills?.get(uri);
    return skill !== undefined && skills?.sharesName(skill) === true;
  }

  function skillChangeOf({ serverName, serverToolName }: ToolIdentity): ChangedDefinition | undefined {
    const skills = servers.find(serverName)?.skills;
    const skill = skills?.get(serverToolName);
    if (skill === undefined || skills?.isChanged(skill) !== true) return undefined;
    return { difference: () => skills.differenceOf(skill) };
  }

  /** The tools that the request's connection lists. */
  function listed({ serverName, connection }: ToolOnConnection): ListedTools | undefined {
    return servers.find(serverName)?.listedBy(connection);
  }

  function viewTools({ serverName, serverToolName, connection }: ToolOnConnection): readonly string[] {
    return servers.find(serverName)?.toolsWithView(serverToolName, connection) ?? [];
  }

  async function acceptView(resource: ReadView): Promise<void> {
    const server = servers.find(resource.serverName);
    server?.views.accept(viewTools(resource), resource.view);
    await server?.saveAccepted();
  }

  function current(): Decisions | Promise<Decisions> {
    return made !== undefined && isLoaded() ? made : reload();
  }

  async function reload(): Promise<Decisions> {
    const [policy, first] = await Promise.all([import("../policy/decide.ts"), load()]);
    made ??= new policy.Decisions({
      policy: () => loaded ?? first,
      approvals,
      approvalsOf,
      configurationVersion: () => servers.version,
      tools: {
        toolOf: (tool) => listed(tool)?.toolOf(tool.serverToolName),
        toolsOf: (server) => servers.find(server)?.listedBy().tools() ?? [],
        changeOf: (tool) => listed(tool)?.changeOf(tool.serverToolName),
        promptChangeOf: (prompt) => servers.find(prompt.serverName)?.promptChangeOf(prompt.serverToolName),
        skillOf: ({ serverName, serverToolName }) => servers.find(serverName)?.skills.get(serverToolName),
        sharesName: ({ serverName, serverToolName }) => sharesName(serverName, serverToolName),
        skillChangeOf,
        toolsWithView: (resource) => viewTools(resource),
        viewChangeOf: (resource) =>
          servers.find(resource.serverName)?.views.changeOf(viewTools(resource), resource.view),
        isLockedOut: (tool) => listed(tool)?.isLockedOut(tool.serverToolName) ?? false,
      },
      trustsAnnotations: (server) => servers.find(server)?.definition?.extras.trustAnnotations ?? false,
      identityOf,
      accept,
      acceptView,
      mode,
      interactive,
    });
    return made;
  }

  return {
    current,
    approvals,
    async policies() {
      await current();
      return load();
    },
    async explain(serverName, serverToolName, args, { kind = "tool", typed: isTyped = false, client } = {}) {
      const decisions = await current();
      const who = client !== undefined ? "client" : isTyped ? "user" : "model";
      const server = servers.find(serverName);
      const request = { who, client, serverName, serverToolName, kind, args } as const;
      if (kind === "skill") await loadSkill(serverName, serverToolName);
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
    },
    async changeOf(serverName, serverToolName, kind = "tool") {
      const decisions = await current();
      if (kind === "skill") await loadSkill(serverName, serverToolName);
      return decisions.explain({ serverName, serverToolName, kind }).change?.difference();
    },
    decisionOf: (tool) => made?.decide(tool).decision,
    isDenied: (tool) => made?.decide(tool).decision === "deny",
    isSkillDenied(serverName, uri) {
      const found = made?.decide({ serverName, serverToolName: uri, kind: "skill" });
      return found?.decision === "deny" && found.rule.origin.source !== "built_in";
    },
    async deniedTo({ name: client }) {
      const decisions = await current();
      return ({ serverName, serverToolName, kind }) =>
        decisions.decide({ who: "client", client, serverName, serverToolName, kind }).decision === "deny";
    },
    identify(server) {
      const { fingerprint } = identityOf(server) ?? {};
      return fingerprint === undefined ? undefined : { fingerprint, root: servers.configuration.locations.root };
    },
    notes: () => loaded?.lock.notes() ?? [],
    async renew() {
      if (loading === undefined) return;
      loading = undefined;
      await load();
    },
  };
}
