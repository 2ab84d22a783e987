/** Consent about a few tools of a few servers, with real rules and real files. */

import { type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import { HostError } from "../../src/errors.ts";
import { loadApprovedTools } from "../../src/policy/approvals.ts";
import type { AskedTool, ToolCallConfirmationDetails } from "../../src/policy/confirmation.ts";
import { ConversationApprovals } from "../../src/policy/conversation-approvals.ts";
import { Decisions, type PolicyRequest, type ToolIdentity } from "../../src/policy/decide.ts";
import { notConfirmed, refusal as refusalOf } from "../../src/policy/refusal.ts";
import { exactName } from "../../src/policy/rules/name-pattern.ts";
import type { ApprovalMode, Decision, DecisionOutcome, PolicyRule, Tier } from "../../src/policy/rules/rule.ts";
import type { CatalogTool } from "../../src/server/catalog.ts";
import { type Difference, definitionDigest } from "../../src/server/tool-changes.ts";
import { type ListedServers, listedServers } from "./listed-servers.ts";

export function definition(name: string, more: Partial<CatalogTool> = {}): CatalogTool {
  return { name, inputSchema: { type: "object" }, ...more };
}

export function asked(serverName: string, serverToolName: string): AskedTool {
  return { serverName, serverToolName, name: `${serverName}__${serverToolName}`, description: "" };
}

export function rule(tier: Tier, decision: DecisionOutcome, server: string, tool?: string): PolicyRule {
  const names = { server: exactName(server), ...(tool !== undefined && { tool: exactName(tool) }) };
  return { tier, decision, priority: 0, ...names, origin: { source: "policy_file", file: `${tier}.toml`, line: 1 } };
}

export function trust(server: string): PolicyRule {
  return { ...rule("user", "allow", server), priority: -1, origin: { source: "trust", name: "trust" } };
}

export interface DeskOptions {
  readonly rules?: readonly PolicyRule[];
  readonly mode?: ApprovalMode;
  readonly interactive?: boolean;
  /** The tool's digest in the lock file. */
  readonly locked?: (server: string, tool: string) => string | undefined;
  readonly promptDrift?: (server: string, prompt: string) => readonly Difference[] | undefined;
  readonly trustsAnnotations?: boolean;
  /** Kept from one run to the next. */
  readonly folder?: Pick<TemporaryFolder, "path">;
  readonly fingerprint?: string;
}

export interface Desk extends Decisions, AsyncDisposable {
  readonly marks: ListedServers;
  /** The decision alone. */
  readonly verdict: (request: PolicyRequest) => Decision;
  /** The same for a request that the user typed. */
  readonly typed: (request: PolicyRequest) => Decision;
  /** As the spine asks: `false` may run; throws for what is denied. */
  readonly ask: (tool: AskedTool, args: JsonObject) => ToolCallConfirmationDetails | false;
  /** As the spine lets a request through: throws unless it is allowed or confirmed. A changed definition's digest is given. */
  readonly redeem: (tool: ToolIdentity, args: JsonObject) => string | undefined;
}

/** `files.read`, `files.write` and `a.b` with `c`, `d`; all known, none allowed. */
export async function desk(options: DeskOptions = {}): Promise<Desk> {
  const {
    rules = [],
    mode = "default",
    interactive = true,
    locked,
    promptDrift,
    fingerprint = "f",
    trustsAnnotations = false,
  } = options;
  const own = await temporaryFolder();
  const marks = listedServers((server) => ({
    digestOf: (tool) => locked?.(server, tool),
    drift: () => [],
    promptDrift: (prompt) => promptDrift?.(server, prompt),
    skillDrift: () => undefined,
  }));
  marks.see("files", [definition("read"), definition("write")]);
  marks.see("a.b", [definition("c"), definition("d")]);
  const identityOf = (server: string): { server: string; fingerprint: string } => ({ server, fingerprint });
  const state = options.folder?.path ?? own.path;
  const approved = await loadApprovedTools({ state, identityOf, now: () => new Date(0) });
  const confirmations = new Decisions({
    policy: () => ({ version: 1, rules, approved }),
    approvals: new ConversationApprovals(),
    configurationVersion: () => 1,
    tools: marks,
    trustsAnnotations: () => trustsAnnotations,
    identityOf,
    accept: async (tool) => {
      marks.accept(tool);
    },
    acceptView: async () => {},
    mode,
    interactive,
  });
  const verdict = (request: PolicyRequest): Decision => {
    const { inputs: _, ...decision } = confirmations.decide(request);
    return decision;
  };
  return Object.assign(confirmations, {
    marks,
    verdict,
    typed: (request: PolicyRequest) => verdict({ ...request, who: "user" }),
    ask({ serverName, serverToolName, ...tool }: AskedTool, args: JsonObject): ToolCallConfirmationDetails | false {
      const request = { serverName, serverToolName, args };
      const decision = confirmations.decide(request);
      if (decision.decision === "deny") throw refusalOf(request, decision);
      if (decision.decision === "allow") return false;
      return confirmations.question(request, decision, { serverName, serverToolName, ...tool });
    },
    redeem({ serverName, serverToolName }: ToolIdentity, args: JsonObject) {
      const request = { serverName, serverToolName, args };
      const decision = confirmations.decide(request);
      if (decision.decision === "deny") throw refusalOf(request, decision);
      if (decision.decision === "allow") return undefined;
      if (!confirmations.takeConfirmation(request)) throw notConfirmed(request);
      const now = marks.changeOf(request) && marks.toolOf(request);
      return now && definitionDigest(now);
    },
    [Symbol.asyncDispose]: () => own[Symbol.asyncDispose](),
  });
}

export function question(details: ToolCallConfirmationDetails | false): ToolCallConfirmationDetails {
  if (details === false) throw new Error("not asked");
  return details;
}

/** Undefined if it may run. */
export function refusal(work: () => unknown): unknown {
  try {
    work();
    return undefined;
  } catch (error) {
    return error instanceof HostError ? [error.code, error.message] : error;
  }
}
