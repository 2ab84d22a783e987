/** The left part of the flow in one call: settings become definitions, definitions are admitted. */

import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { isInside } from "../files/inside.ts";
import { explain } from "../files/system-error.ts";
import type { ConfiguredServer, Problem, Settings } from "../settings/define/definition.ts";
import { folderTrustEnabled, mergeSettings, readSources } from "../settings/read/load.ts";
import { type Environment, type LocateOptions, type Locations, locate } from "../settings/read/paths.ts";
import { type Admission, admit } from "./admit.ts";
import { readApprovals, type WorkspaceApprovals } from "./approvals.ts";
import { decideTrust, type TrustDecision } from "./trust-decision.ts";
import { readTrustedFolders, type TrustedFolders } from "./trusted-folders.ts";

export interface ConfigurationOptions extends LocateOptions {
  readonly trustWorkspace?: boolean;
  /** What the embedding program (an IDE) says about the workspace. */
  readonly embedderTrust?: boolean;
}

export interface AdmittedServer {
  readonly server: ConfiguredServer;
  readonly admission: Admission;
}

export interface Configuration {
  readonly locations: Locations;
  readonly environment: Environment;
  readonly settings: Settings;
  readonly trust: TrustDecision;
  /** Of the settings and of the trust rules. */
  readonly problems: readonly Problem[];
  /** In settings order, those that may not start included. */
  readonly servers: readonly AdmittedServer[];
}

export async function loadConfiguration(options: ConfigurationOptions): Promise<Configuration> {
  const { environment, trustWorkspace: flag = false, embedderTrust } = options;
  const locations = await locate(options);
  const { root } = locations;
  const [sources, folders] = await Promise.all([
    readSources(locations, options.userSettings),
    readRules(locations, environment),
  ]);
  const { decision: trust, problems: doubts } = decideTrust({
    flag,
    env: environment.env,
    folderTrustEnabled: folderTrustEnabled(sources),
    embedderTrust,
    rules: folders.rules,
    root,
  });
  const settings = await mergeSettings(sources, { locations, environment, trusted: trust.trusted });
  const approved = await readApproved(settings, trust, locations);
  const facts = { trust, settings, approvals: approved.approvals, locations };
  return {
    locations,
    environment,
    settings,
    trust,
    problems: [...settings.problems, ...folders.problems, ...doubts, ...approved.problems],
    servers: settings.servers.map((server) => ({ server, admission: admit(server, facts) })),
  };
}

/** A file of rules that lies in the workspace could be planted there, and trust the folder it came with. */
async function readRules({ trustedFolders, root }: Locations, { home }: Environment): Promise<TrustedFolders> {
  const isUsualPlace = trustedFolders === join(home, ".gemini", "trustedFolders.json");
  if (isUsualPlace || !(await isInWorkspace(trustedFolders, root, home))) return readTrustedFolders(trustedFolders);
  const message = `${trustedFolders} lies in the workspace ${root}, so it trusts no folder`;
  const next = "Set GEMINI_CLI_TRUSTED_FOLDERS_PATH to a file outside the workspace, or unset it.";
  return { rules: [], problems: [{ severity: "error", code: "settings_invalid", message, next }] };
}

/** Who works in the home folder, or above it, has everything inside: there it says nothing. */
async function isInWorkspace(file: string, root: string, home: string): Promise<boolean> {
  // What cannot be resolved cannot be read either, and reading it says why.
  const [realFile, realHome] = await Promise.all([file, home].map((path) => realpath(path).catch(() => path)));
  return isInside(realFile ?? file, root) && !isInside(realHome ?? home, root);
}

/** Read only where they decide: most folders have no servers of their own. Unreadable ones approve nothing and stop nothing. */
async function readApproved(
  settings: Settings,
  trust: TrustDecision,
  { state, root }: Locations,
): Promise<{ approvals: WorkspaceApprovals; problems: readonly Problem[] }> {
  const decide = trust.trusted && !trust.approvesEntries && settings.servers.some(({ scope }) => scope === "workspace");
  if (!decide) return { approvals: new Map(), problems: [] };
  try {
    return { approvals: (await readApprovals(state)).get(root) ?? new Map(), problems: [] };
  } catch (error) {
    const message = `no server of this workspace counts as approved: ${explain(error)}`;
    return { approvals: new Map(), problems: [{ severity: "error", code: "settings_invalid", message }] };
  }
}
