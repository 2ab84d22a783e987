/** What the gateway needs of consoles, which the program that contains it provides. */

import type { OpenedHost } from "@fairlead/core/host";

/** How a console is opened. `port`: where it listens; 0: any free port. */
export interface ConsoleOptions {
  readonly port: number;
}

/** A console that shows a workspace's host in a browser. */
export interface OpenedConsole {
  /** Returns a new one-time address of the console's page. */
  newAddress(): string;
  /** Stops listening, and makes all its pages useless. */
  close(): Promise<void>;
}

/** Opens a console of a host. The program that contains the gateway provides it; the gateway closes the console. */
export type OpenConsole = (host: OpenedHost, options: ConsoleOptions) => Promise<OpenedConsole>;
