/** Consent about a few tools of a few servers, with real rules and real files. */

import { type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import type { CatalogTool } from "../../src/discover/catalog.ts";
import { HostError } from "../../src/errors.ts";
import { type ChangeMarks, createChangeMarks, type LockMarks } from "../../src/host/marks.ts";
import { loadApprovedTools } from "../../src/policy/approved-tools.ts";
import { type Consent, createConsent } from "../../src/policy/consent.ts";
import { exactName } from "../../src/policy/name-pattern.ts";
import type { ApprovalMode, Decision, PolicyRule, Tier } from "../../src/policy/rule.ts";
import type { AskedTool, ToolCallConfirmationDetails } from "../../src/registry/confirmation.ts";

export function definition(name: string, more: Partial<CatalogTool> = {}): CatalogTool {
  return { name, inputSchema: { type: "object" }, ...more };
}

export function asked(serverName: string, serverToolName: string): AskedTool {
  return { serverName, serverToolName, name: `${serverName}__${serverToolName}`, description: "" };
}

export function rule(tier: Tier, decision: Decision, server: string, tool?: string): PolicyRule {
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
  readonly locked?: LockMarks["digestOf"];
  readonly trustsAnnotations?: boolean;
  /** Kept from one run to the next. */
  readonly folder?: Pick<TemporaryFolder, "path">;
  readonly fingerprint?: string;
}

export interface Desk extends Consent, AsyncDisposable {
  readonly marks: ChangeMarks;
}

/** `files.read`, `files.write` and `a.b` with `c`, `d`; all known, none allowed. */
export async function desk(options: DeskOptions = {}): Promise<Desk> {
  const {
    rules = [],
    mode = "default",
    interactive = true,
    locked,
    fingerprint = "f",
    trustsAnnotations = false,
  } = options;
  const own = await temporaryFolder();
  const lock = { digestOf: locked ?? (() => undefined), driftOf: () => [], promptDriftOf: () => undefined };
  const marks = createChangeMarks(() => lock);
  marks.see("files", [definition("read"), definition("write")]);
  marks.see("a.b", [definition("c"), definition("d")]);
  const identityOf = (server: string): { server: string; fingerprint: string } => ({ server, fingerprint });
  const state = options.folder?.path ?? own.path;
  const approved = await loadApprovedTools({ state, identityOf, today: () => new Date(0) });
  const consent = createConsent({
    policy: () => ({ rules, approved }),
    tools: marks,
    trustsAnnotations: () => trustsAnnotations,
    identityOf,
    accept: async (tool) => {
      marks.accept(tool);
    },
    mode,
    interactive,
  });
  return { ...consent, marks, [Symbol.asyncDispose]: () => own[Symbol.asyncDispose]() };
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
