/** What decides for a host: rules, saved approvals and the lock file, read with the first decision and not before. */

import { demoName } from "../demo/name.ts";
import type { Catalog } from "../discover/catalog.ts";
import type { ServerIdentity } from "../policy/approvals.ts";
import type { ApprovedTools } from "../policy/approved-tools.ts";
import type { Consent, Pair } from "../policy/consent.ts";
import type { Policies, PolicyFlags } from "../policy/load-policies.ts";
import type { ApprovalMode, Decision } from "../policy/rule.ts";
import type { ServerDefinition } from "../settings/definition.ts";
import type { Configuration } from "../trust/configuration.ts";
import type { HostLock } from "./lock.ts";
import type { ChangeMarks, LockMarks } from "./marks.ts";
import type { Host, HostNote } from "./types.ts";

export interface HostPolicyOptions {
  /** As it is now. */
  readonly configuration: () => Configuration;
  readonly definition: (server: string) => ServerDefinition | undefined;
  /** What the server offers, as far as is known. */
  readonly catalog: (server: string) => Catalog | undefined;
  readonly marks: ChangeMarks;
  /** Keeps what is known of the server for the runs to come. */
  readonly remember: (server: string) => Promise<void>;
  readonly mode: ApprovalMode;
  readonly interactive: boolean;
  readonly flags: PolicyFlags;
  /** Milliseconds since 1970. */
  readonly today: () => number;
}

export interface HostPolicy {
  readonly consent: () => Promise<Consent>;
  readonly policies: () => Promise<Policies>;
  readonly explain: Host["explain"];
  readonly changeOf: Host["changeOf"];
  /** What a call of a model would meet; undefined until the rules have been read. */
  readonly decision: (tool: Pair) => Decision | undefined;
  /** Nothing before the first decision. */
  readonly lock: LockMarks;
  /** What is not as it was locked. */
  readonly notes: () => readonly HostNote[];
  /** A person wants the tool as it is now, in this run and in those to come. */
  readonly accept: (tool: Pair) => Promise<void>;
  /** Settings have changed, and files may have. */
  readonly renew: () => Promise<void>;
}

interface Loaded extends Policies {
  readonly approved: ApprovedTools;
  readonly lock: HostLock;
}

export function createHostPolicy(options: HostPolicyOptions): HostPolicy {
  const { configuration, definition, catalog, marks, remember, mode, interactive, flags, today } = options;
  let signature: string | undefined;
  let loading: Promise<Loaded> | undefined;
  let loaded: Loaded | undefined;
  let consent: Consent | undefined;

  function identityOf(server: string): ServerIdentity | undefined {
    if (server === demoName && definition(server) === undefined) return { server, fingerprint: demoName };
    const { fingerprint, scope } = definition(server) ?? {};
    const { root } = configuration().locations;
    return fingerprint === undefined
      ? undefined
      : { server, fingerprint, ...(scope === "workspace" && { workspace: root }) };
  }

  async function read(): Promise<Loaded> {
    const [{ loadPolicies }, { loadApprovedTools }, { approvedTool }, { loadLock }] = await Promise.all([
      import("../policy/load-policies.ts"),
      import("../policy/approved-tools.ts"),
      import("../policy/approvals.ts"),
      import("./lock.ts"),
    ]);
    const { state } = configuration().locations;
    const [policies, approved, lock] = await Promise.all([
      loadPolicies(configuration(), flags),
      loadApprovedTools({ state, identityOf, today: () => new Date(today()) }),
      loadLock({ configuration: configuration(), definition, catalog }),
    ]);
    for (const approval of approved.all()) {
      const { server: serverName, tool: serverToolName, digest } = approval;
      marks.expect({ serverName, serverToolName }, { digest, tool: approvedTool(approval) });
    }
    return {
      ...policies,
      problems: [...policies.problems, ...approved.problems, ...lock.problems],
      approved,
      lock,
    };
  }

  /** Whoever writes a rule while a host runs means it for the next call. */
  async function load(): Promise<Loaded> {
    const { policySignature } = await import("../policy/policy-signature.ts");
    const now = await policySignature(configuration().locations);
    if (now !== signature) loading = undefined;
    signature = now;
    loading ??= read();
    loaded = await loading;
    return loaded;
  }

  async function accept(tool: Pair): Promise<void> {
    marks.accept(tool);
    const now = marks.toolOf(tool);
    await Promise.all([remember(tool.serverName), now && loaded?.approved.forgetOthers(tool.serverName, now)]);
  }

  async function decide(): Promise<Consent> {
    const [{ createConsent }, first] = await Promise.all([import("../policy/consent.ts"), load()]);
    consent ??= createConsent({
      policy: () => loaded ?? first,
      tools: marks,
      trustsAnnotations: (server) => definition(server)?.extras.trustAnnotations ?? false,
      identityOf,
      accept,
      mode,
      interactive,
    });
    return consent;
  }

  return {
    consent: decide,
    async policies() {
      await decide();
      return load();
    },
    async explain(serverName, serverToolName, args, { kind = "tool", typed: isTyped = false } = {}) {
      const { explain } = await decide();
      const request = { serverName, serverToolName, kind, ...(args && { args }) };
      const { change, ...judged } = explain(request, isTyped);
      return { ...judged, isChanged: change !== undefined };
    },
    async changeOf(serverName, serverToolName, kind = "tool") {
      const { explain } = await decide();
      return explain({ serverName, serverToolName, kind }).change?.difference();
    },
    decision: (tool) => consent?.verdict(tool).decision,
    lock: {
      digestOf: (server, tool) => loaded?.lock.digestOf(server, tool),
      driftOf: (server) => loaded?.lock.driftOf(server) ?? [],
      promptDriftOf: (server, prompt) => loaded?.lock.promptDriftOf(server, prompt),
    },
    notes: () => loaded?.lock.notes() ?? [],
    accept,
    async renew() {
      if (loading === undefined) return;
      loading = undefined;
      await load();
    },
  };
}
