/** How the embedding program makes the hosts of a gateway. */

import type { DeclaredCapabilities, Host, QuestionHandler } from "@fairlead/core/host/types";
import type { ConfigurationOptions } from "@fairlead/core/trust/configuration";
import type { Era } from "@fairlead/wire";

/** The folder and the environment in which a client runs. Clients with equal ones share a host. */
export interface Workspace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The client's options that choose the settings. */
  readonly options?: Pick<ConfigurationOptions, "root" | "settingsFile" | "workspace" | "trustWorkspace"> | undefined;
}

/** Options that a gateway's host passes to `createHost`. */
export interface HostHooks {
  /** What the host declares to servers. */
  readonly declare: DeclaredCapabilities;
  /** Answers questions that belong to no request. */
  readonly onQuestion: QuestionHandler;
  /** The protocol era to try first with a server that speaks both. Default: the modern one. */
  readonly era?: Era;
}

export type CreateGatewayHost = (workspace: Workspace, hooks: HostHooks) => Promise<Host>;
