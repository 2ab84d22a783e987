/** Loads the settings and decides for each server definition whether it may start. */

import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { demoName } from "../demo/name.ts";
import { isInside } from "../files/real-path.ts";
import { explain } from "../files/system-error.ts";
import type { Policies } from "../policy/rules/load-policies.ts";
import type { ConfiguredServer, Problem, Settings } from "../settings/define/definition.ts";
import { folderTrustEnabled, ideEnabled, mergeSettings, readSources } from "../settings/read/load.ts";
import { type Environment, type LocateOptions, type Locations, locate } from "../settings/read/paths.ts";
import { type Admission, admit } from "./admit.ts";
import { withApprovalFolder } from "./approval-folder.ts";
import { readApprovals, type WorkspaceApprovals } from "./approvals.ts";
import { withPrograms } from "./approved-programs.ts";
import { programPlace } from "./programs.ts";
import { decideTrust, type IdeReport, isIdeAsked, type TrustDecision } from "./trust-decision.ts";
import { readTrustedFolders, type TrustedFolders } from "./trusted-folders.ts";

/** Where the settings are, and who decides whether the workspace is trusted. */
export interface ConfigurationOptions extends LocateOptions {
  readonly trustWorkspace?: boolean;
  /** The trust decision of the embedding program, such as an IDE. */
  readonly embedderTrust?: boolean;
  /** Asks the IDE whether it trusts the folder. If absent, the IDE is not asked. */
  readonly ide?: AskIde;
}

/** The IDE, as `loadConfiguration` asks it. `createIdeTrust` creates one. */
export interface AskIde {
  /** @param root The real path of the workspace root. */
  report(root: string): Promise<IdeReport | undefined>;
  /** Called instead of `report` if the IDE does not decide. */
  stop(): Promise<undefined>;
}

/** A server of the settings, and whether Fairlead may start it. */
export interface AdmittedServer {
  readonly server: ConfiguredServer;
  readonly admission: Admission;
}

/** Whether an untrusted folder defines a server with the demo server's name. It must not replace the demo server. */
export function isPlantedDemo({ server, admission }: AdmittedServer): boolean {
  return server.name === demoName && admission.status === "blocked" && admission.reason === "untrusted_folder";
}

/** The merged settings, the decision whether the workspace is trusted, and every configured server. */
export interface Configuration {
  readonly locations: Locations;
  readonly environment: Environment;
  readonly settings: Settings;
  readonly trust: TrustDecision;
  /** Problems in the settings and in the trust rules. */
  readonly problems: readonly Problem[];
  /** The servers in the order of the settings, including servers that are not allowed to start. */
  readonly servers: readonly AdmittedServer[];
  /** Rules of the administrator that are in no file of this machine, from `readPolicies`. */
  readonly policies?: Policies;
}

/**
 * Loads the settings and decides which servers may start. Starts no server.
 *
 * @throws HostError if an option or an environment variable is wrong
 */
export async function loadConfiguration(options: ConfigurationOptions): Promise<Configuration> {
  const { environment, trustWorkspace: flag = false, embedderTrust } = options;
  const locations = await locate(options);
  const { root } = locations;
  const [sources, folders] = await Promise.all([
    readSources(locations, options.userSettings),
    readRules(locations, environment),
  ]);
  const facts = {
    flag,
    env: environment.env,
    folderTrustEnabled: folderTrustEnabled(sources),
    embedderTrust,
    hasWorkspace: options.workspace !== false,
    root,
  };
  const ide = await (isIdeAsked(facts) && ideEnabled(sources) ? options.ide?.report(root) : options.ide?.stop());
  const { decision: trust, problems: doubts } = decideTrust({ ...facts, ide, rules: folders.rules });
  const merged = await mergeSettings(sources, { locations, environment, trusted: trust.trusted });
  const programContext = programPlace({ environment, locations, trust });
  const settings = {
    ...merged,
    servers: await Promise.all(
      merged.servers.map(async (one) => withPrograms(await withApprovalFolder(one, programContext), programContext)),
    ),
  };
  const approved = await readApproved(settings, trust, locations);
  const admission = { trust, settings, approvals: approved.approvals, locations };
  return {
    locations,
    environment,
    settings,
    trust,
    problems: [...settings.problems, ...folders.problems, ...doubts, ...approved.problems],
    servers: settings.servers.map((server) => ({ server, admission: admit(server, admission) })),
  };
}

/** Ignores a `trustedFolders.json` inside the workspace, because a workspace must not declare itself trusted. */
async function readRules({ trustedFolders, root }: Locations, { home }: Environment): Promise<TrustedFolders> {
  const isUsualPlace = trustedFolders === join(home, ".gemini", "trustedFolders.json");
  if (isUsualPlace || !(await isInWorkspace(trustedFolders, root, home))) return readTrustedFolders(trustedFolders);
  const message = `${trustedFolders} is ignored: it lies in the workspace ${root}, and a workspace cannot trust itself`;
  const next = "Set GEMINI_CLI_TRUSTED_FOLDERS_PATH to a file outside the workspace, or unset it.";
  return { rules: [], problems: [{ severity: "error", code: "settings_invalid", message, next }] };
}

/**
 * Whether the file lies in the workspace. False if the workspace contains the home folder, because then all files of
 * the user would lie in the workspace.
 */
async function isInWorkspace(file: string, root: string, home: string): Promise<boolean> {
  // If the file cannot be resolved, it is absent or unreadable, and `readTrustedFolders` handles that.
  const [realFile, realHome] = await Promise.all([file, home].map((path) => realpath(path).catch(() => path)));
  return isInside(realFile ?? file, root) && !isInside(realHome ?? home, root);
}

/** Reads the approvals if the workspace has servers. If the approvals cannot be read, no server counts as approved. */
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
