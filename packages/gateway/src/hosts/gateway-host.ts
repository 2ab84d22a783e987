/** How the gateway creates hosts. The program that contains the gateway provides the function. */

import type { DeclaredCapabilities, GreetingHooks, Host, QuestionHandler } from "@fairlead/core/host/types";
import type { ConfigurationOptions } from "@fairlead/core/trust/configuration";
import type { Era } from "@fairlead/wire";

/** The folder and environment of a client. Clients with the same workspace share hosts. */
export interface Workspace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The client's command-line options that choose the settings files. */
  readonly options?: Pick<ConfigurationOptions, "root" | "settingsFile" | "workspace" | "trustWorkspace"> | undefined;
}

/** What the gateway decides about a host. */
export interface HostHooks {
  /** The capabilities that the host declares to servers. */
  readonly declare: DeclaredCapabilities;
  /** Called for a server's question that belongs to no known request of a client. */
  readonly onQuestion: QuestionHandler;
  /** Finds servers that lead back to this gateway. */
  readonly greeting: GreetingHooks;
  /** The era to use with servers that support both. Default: modern. */
  readonly era?: Era;
}

/** Creates a host for a workspace. The gateway disposes it. */
export type CreateGatewayHost = (workspace: Workspace, hooks: HostHooks) => Promise<Host>;
