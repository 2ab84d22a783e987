/** What the first screen knows: files, workspace, servers, the demo, problems, and commands that lead on. Plain data. */

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
    /** Which flag, variable or rule decided. */
    readonly because: string;
  };
  readonly files: readonly SettingsFile[];
  readonly servers: readonly AdmittedServer[];
  /** Empty when an entry of the settings has taken the demo server's name. */
  readonly demoTools: readonly HostTool[];
  readonly problems: readonly Problem[];
  /** All of them work as they stand. */
  readonly next: readonly Suggestion[];
}

/** `command`: how Fairlead is called here. */
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
    ...(tool === undefined ? [] : [{ command: `tools ${tool.server}`, purpose: "what the demo server can do" }]),
    ...(tool === undefined ? [] : [{ command: `call ${exampleCall(tool)}`, purpose: "call one of its tools" }]),
    ...(canApprove ? [{ command: "trust add", purpose: "read this folder's servers, then approve them" }] : []),
    ...(problems.length > 0 ? [{ command: "settings validate", purpose: "what is wrong with the settings" }] : []),
    ...(servers.length > 0 ? [{ command: "mcp list", purpose: "your servers" }] : []),
    { command: "mcp import", purpose: "find servers of your other programs" },
    { command: "mcp add time uvx mcp-server-time", purpose: "add a server" },
    { command: "--help", purpose: "everything else" },
  ];
}

function isForTrust(reason: string): boolean {
  return reason === "awaiting_approval" || reason === "untrusted_folder";
}
