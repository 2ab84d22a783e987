/**
 * Shows what a person must check before trusting a folder: all its servers in full, with hidden characters made
 * visible.
 */

import { realpath } from "node:fs/promises";
import { readToolApprovals, type ToolApproval } from "@fairlead/core/policy/approvals";
import { loadPolicies } from "@fairlead/core/policy/rules/load-policies";
import type { PolicyRule } from "@fairlead/core/policy/rules/rule";
import type { ConfiguredServer, ServerDefinition } from "@fairlead/core/settings/define/definition";
import { joinSafe, type SafeText, safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import { whyUnapproved } from "@fairlead/core/trust/admit";
import { isApprovedBy, readApprovals } from "@fairlead/core/trust/approvals";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { readTrustedFolders, type TrustLevel } from "@fairlead/core/trust/trusted-folders";
import { count } from "../../output/output.ts";
import { originText, subjectText } from "../../output/policy/rule-lines.ts";
import { approvalFields } from "../../output/servers/approval-details.ts";
import { layout, positionText } from "../../output/servers/server-details.ts";
import { configurationIfTrusted, lastingConfiguration } from "../../shell/configuration.ts";
import type { Context } from "../../shell/verb.ts";

/** What the user must check before trusting the folder `root`. */
export interface Review {
  readonly root: string;
  readonly isHome: boolean;
  readonly trustedFolders: string;
  readonly state: string;
  /** Whether the folder is not trusted yet: no rule and no setting trusts it. */
  readonly needsTrust: boolean;
  /** The level of the folder's own trust rule, if there is one. */
  readonly rule?: TrustLevel;
  /** Whether the user has approved servers of this folder before. */
  readonly remembered: boolean;
  /** Servers to approve: new, or changed since they were approved. */
  readonly pending: readonly Pending[];
  readonly approved: readonly string[];
  /** Invalid entries, which cannot be approved. */
  readonly broken: readonly ConfiguredServer[];
}

/** A server of the folder that needs the user's approval. */
export interface Pending {
  readonly name: string;
  readonly server: ConfiguredServer;
  readonly definition: ServerDefinition;
  /** How the entry differs from the approved entry. Absent if the user never approved the server. */
  readonly changed?: string;
  /** Tools that would run without confirmation, each with the rule or approval that allows it. */
  readonly allowed: readonly SafeText[];
}

/** Reads the folder's settings, trust rule and approvals. Starts no server. */
export async function review(context: Context): Promise<Review> {
  // What the IDE reports ends with the IDE, so the user must still be able to trust the folder.
  const { ide: _, ...withoutIde } = context;
  const { trust } = await lastingConfiguration(withoutIde);
  const configuration = await configurationIfTrusted(context);
  const { locations, servers } = configuration;
  const allowedFor = await alreadyAllowed(configuration);
  const { root, state, trustedFolders } = locations;
  const approvals = (await readApprovals(state)).get(root);
  const rule = (await readTrustedFolders(trustedFolders)).rules.find(({ path }) => path === root);
  const ofWorkspace = servers.map(({ server }) => server).filter(({ scope }) => scope === "workspace");
  const defined = ofWorkspace.flatMap((server) =>
    server.definition === undefined ? [] : [{ server, definition: server.definition }],
  );
  const isApproved = ({ definition }: { readonly definition: ServerDefinition }): boolean =>
    isApprovedBy(approvals?.get(definition.name), definition);
  return {
    root,
    isHome: root === (await realpath(context.io.home).catch(() => context.io.home)),
    trustedFolders,
    state,
    needsTrust: !trust.trusted,
    rule: rule?.level,
    remembered: (approvals?.size ?? 0) > 0,
    pending: defined
      .filter((one) => !isApproved(one))
      .map(({ server, definition }) => {
        const { name } = definition;
        const approval = approvals?.get(name);
        const why = approval === undefined ? {} : { changed: whyUnapproved(approval, definition) };
        return { name, server, definition, ...why, allowed: allowedFor(definition) };
      }),
    approved: defined.filter(isApproved).map(({ definition }) => definition.name),
    broken: ofWorkspace.filter(({ definition }) => definition === undefined),
  };
}

/** Returns the review as text for the terminal. */
export function reviewText(found: Review): SafeText {
  const { root, isHome, needsTrust, pending, approved, broken } = found;
  const parts = [safe`folder: ${toVisibleLine(root)} (${needsTrust ? safe`not trusted yet` : safe`trusted`})`];
  if (isHome) parts.push(safe`  This is your home folder: trusting it trusts every folder in it.`);
  if (needsTrust)
    parts.push(
      safe`  If you trust the folder, Fairlead reads its .gemini/settings.json and .env files. Each server still needs an approval to start.`,
    );
  if (approved.length > 0) parts.push(safe`already approved: ${joinSafe(approved.map(toVisibleLine), safe`, `)}`);
  parts.push(pending.length === 0 ? safe`no servers to approve` : safe`${count(pending.length, "server")} to approve:`);
  parts.push(...pending.map(pendingText), ...broken.map(brokenText));
  return joinSafe(parts);
}

function pendingText({ server, definition, changed, allowed }: Pending): SafeText {
  const name = toVisibleLine(definition.name);
  const heading = changed === undefined ? name : safe`${name} (${toVisibleLine(changed)})`;
  const fields = layout(approvalFields(definition, server), safe`    `);
  const unasked = allowed.map((one) => safe`    runs without confirmation: ${one}`);
  return joinSafe([safe`\n  ${heading}`, fields, ...unasked]);
}

function brokenText({ name, origin, problems }: ConfiguredServer): SafeText {
  const reasons = problems.filter(({ severity }) => severity === "error").map(({ message }) => toVisibleLine(message));
  return safe`\n  ${toVisibleLine(name)} cannot be approved (${positionText(origin, toVisibleLine)}): ${joinSafe(reasons, safe`; `)}`;
}

type AlreadyAllowed = (definition: ServerDefinition) => readonly SafeText[];

/** Finds the tools that already run without confirmation. Unreadable approvals allow nothing, so they are ignored. */
async function alreadyAllowed(configuration: Configuration): Promise<AlreadyAllowed> {
  const { root, state } = configuration.locations;
  const { rules } = await loadPolicies(configuration);
  const approvals = await readToolApprovals(state).catch((): readonly ToolApproval[] => []);
  return ({ name, fingerprint }) => [
    ...rules.filter((rule) => allows(rule, name)).map((rule) => safe`${subjectText(rule)}, by ${originText(rule)}`),
    ...approvals
      .filter((one) => one.server === name && one.workspace === root && one.fingerprint === fingerprint)
      .map(({ tool, client }) => {
        const whose = client === undefined ? safe`` : safe`, client ${toVisibleLine(client)}`;
        return safe`${toVisibleLine(`${name}.${tool}`)}${whose}, by your approval`;
      }),
  ];
}

/**
 * Whether the rule allows tools of the server. Ignores the rule for `"trust": true`: the review already shows that
 * entry.
 */
function allows({ decision, server, kind = "tool", origin }: PolicyRule, name: string): boolean {
  return decision === "allow" && kind === "tool" && origin.source !== "trust" && server?.matches(name) !== false;
}
