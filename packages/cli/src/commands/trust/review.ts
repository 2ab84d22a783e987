/** What a person must see before trusting a folder: its servers, untruncated, with nothing hidden and nothing invisible. */

import { realpath } from "node:fs/promises";
import type { ConfiguredServer, ServerDefinition } from "@fairlead/core/settings/definition";
import { joinSafe, type SafeText, safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import { readApprovals } from "@fairlead/core/trust/approvals";
import { configurationIfTrusted, lastingConfiguration } from "../../configuration.ts";
import { count } from "../../output/output.ts";
import { layout, place, resolvedFields, transportFields } from "../../output/server-details.ts";
import { launchNotes } from "../../output/server-notes.ts";
import { transportWord } from "../../output/server-status.ts";
import type { Context } from "../../verb.ts";

export interface Review {
  readonly root: string;
  readonly isHome: boolean;
  readonly trustedFolders: string;
  readonly state: string;
  /** False when a rule or the settings say already that the folder is trusted. */
  readonly needsTrust: boolean;
  /** Servers to approve: new, or changed since they were approved. */
  readonly pending: readonly Pending[];
  /** Approved as they stand. */
  readonly approved: readonly string[];
  /** Entries that make no sense and so cannot be approved. */
  readonly broken: readonly ConfiguredServer[];
}

export interface Pending {
  readonly name: string;
  readonly fingerprint: string;
  readonly definition: ServerDefinition;
  readonly changed: boolean;
}

export async function review(context: Context): Promise<Review> {
  const { trust } = await lastingConfiguration(context);
  const { locations, servers } = await configurationIfTrusted(context);
  const { root, state, trustedFolders } = locations;
  const approvals = (await readApprovals(state)).get(root);
  const ofWorkspace = servers.map(({ server }) => server).filter(({ scope }) => scope === "workspace");
  const definitions = ofWorkspace.flatMap(({ definition }) => (definition === undefined ? [] : [definition]));
  const isApproved = ({ name, fingerprint }: ServerDefinition): boolean =>
    approvals?.get(name)?.fingerprint === fingerprint;
  return {
    root,
    isHome: root === (await realpath(context.io.home).catch(() => context.io.home)),
    trustedFolders,
    state,
    needsTrust: !trust.trusted,
    pending: definitions
      .filter((definition) => !isApproved(definition))
      .map((definition) => {
        const { name, fingerprint } = definition;
        return { name, fingerprint, definition, changed: approvals?.has(name) ?? false };
      }),
    approved: definitions.filter(isApproved).map(({ name }) => name),
    broken: ofWorkspace.filter(({ definition }) => definition === undefined),
  };
}

export function reviewText(found: Review): SafeText {
  const { root, isHome, needsTrust, pending, approved, broken } = found;
  const parts = [safe`folder: ${toVisibleLine(root)} (${needsTrust ? safe`not trusted yet` : safe`trusted`})`];
  if (isHome) parts.push(safe`  This is your home folder: to trust it is to trust every folder in it.`);
  if (needsTrust)
    parts.push(
      safe`  Trusted, its .gemini/settings.json and .env files count. None of its servers starts without an approval.`,
    );
  if (approved.length > 0) parts.push(safe`already approved: ${joinSafe(approved.map(toVisibleLine), safe`, `)}`);
  parts.push(
    pending.length === 0 ? safe`no server waits for approval` : safe`${count(pending.length, "server")} to approve:`,
  );
  parts.push(...pending.map(pendingText), ...broken.map(brokenText));
  return joinSafe(parts);
}

function pendingText({ definition, changed }: Pending): SafeText {
  const { name, origin, transport, trust } = definition;
  const fields = [
    { label: safe`written in`, values: [place(origin)] },
    { label: safe`transport`, values: [toVisibleLine(transportWord(transport.kind))] },
    ...transportFields(transport, toVisibleLine),
    ...resolvedFields(definition, toVisibleLine),
    { label: safe`trust: true`, values: trust ? [safe`its tools run without asking you`] : [] },
    { label: safe`note`, values: launchNotes(transport).map(toVisibleLine) },
  ];
  const heading = changed ? safe`${toVisibleLine(name)} (changed since you approved it)` : toVisibleLine(name);
  return safe`\n  ${heading}\n${layout(fields, safe`    `)}`;
}

function brokenText({ name, origin, problems }: ConfiguredServer): SafeText {
  const reasons = problems.filter(({ severity }) => severity === "error").map(({ message }) => toVisibleLine(message));
  return safe`\n  ${toVisibleLine(name)} cannot be approved (${place(origin)}): ${joinSafe(reasons, safe`; `)}`;
}
