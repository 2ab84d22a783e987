/** Builds the overview that `fairlead` prints without a terminal: files, workspace, servers, demo, problems, next commands. Plain data. */

import type { HostTool } from "@fairlead/core/host";
import type { Problem, SettingsFile } from "@fairlead/core/settings/define/definition";
import type { Locations } from "@fairlead/core/settings/read/paths";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust/configuration";
import { exampleCall } from "../output/tools/signature.ts";

interface Suggestion {
  readonly command: string;
  readonly purpose: string;
}

export interface Overview {
  readonly workspace: {
    readonly root: string;
    readonly rootFrom: Locations["rootFrom"];
    readonly trusted: boolean;
    /** The flag, variable or rule that decided about trust. */
    readonly because: string;
  };
  readonly files: readonly SettingsFile[];
  readonly servers: readonly AdmittedServer[];
  /** Empty if a configured server uses the demo server's name. */
  readonly demoTools: readonly HostTool[];
  readonly problems: readonly Problem[];
  /** Suggested commands that work as written. */
  readonly next: readonly Suggestion[];
}

/** `command`: `fairlead` or `npx fairlead`, whichever works here. */
export function createOverview(
  configuration: Configuration,
  demoTools: readonly HostTool[],
  command: string,
): Overview {
  const { locations, settings, trust, servers, problems } = configuration;
  const { root, rootFrom } = locations;
  return {
    workspace: { root, rootFrom, trusted: trust.trusted, because: trust.detail },
    files: settings.files,
    servers,
    demoTools,
    problems,
    next: suggestions({ servers, demoTools, problems }).map(({ command: words, purpose }) => ({
      command: `${command} ${words}`,
      purpose,
    })),
  };
}

function suggestions({
  servers,
  demoTools,
  problems,
}: Pick<Overview, "servers" | "demoTools" | "problems">): Suggestion[] {
  const [tool] = demoTools;
  const canApprove = servers.some(({ admission }) => admission.status === "blocked" && isForTrust(admission.reason));
  return [
    ...(tool === undefined ? [] : [{ command: `tools ${tool.server}`, purpose: "list the demo server's tools" }]),
    ...(tool === undefined ? [] : [{ command: `call ${exampleCall(tool)}`, purpose: "call one of its tools" }]),
    ...(canApprove ? [{ command: "trust add", purpose: "review and approve this folder's servers" }] : []),
    ...(problems.length > 0 ? [{ command: "settings validate", purpose: "show the problems in the settings" }] : []),
    ...(servers.length > 0 ? [{ command: "mcp list", purpose: "show your servers" }] : []),
    { command: "mcp import", purpose: "copy servers from your other programs" },
    { command: "mcp add time uvx mcp-server-time", purpose: "add a server" },
    { command: "--help", purpose: "everything else" },
  ];
}

function isForTrust(reason: string): boolean {
  return reason === "awaiting_approval" || reason === "untrusted_folder";
}
