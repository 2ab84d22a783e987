/** The interface through which the embedding program creates a gateway's hosts. */

import type { DeclaredCapabilities, Host, QuestionHandler } from "@fairlead/core/host/types";
import type { ConfigurationOptions } from "@fairlead/core/trust/configuration";
import type { Era } from "@fairlead/wire";

/** The folder and the environment in which a client runs. Clients in the same folder and environment share hosts. */
export interface Workspace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The client's command-line options that choose the settings files. */
  readonly options?: Pick<ConfigurationOptions, "root" | "settingsFile" | "workspace" | "trustWorkspace"> | undefined;
}

/** The options of a host that depend on the clients which use it. */
export interface HostHooks {
  /** The capabilities that the host declares to servers. */
  readonly declare: DeclaredCapabilities;
  /** Answers a server's question if the host cannot tell which client's request the question belongs to. */
  readonly onQuestion: QuestionHandler;
  /** The protocol era to try first, if a server supports both. Default: the modern era. */
  readonly era?: Era;
}

export type CreateGatewayHost = (workspace: Workspace, hooks: HostHooks) => Promise<Host>;
