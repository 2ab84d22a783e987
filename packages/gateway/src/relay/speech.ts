/**
 * The lines that relays and the background host exchange. The first line in each direction is a greeting. All later
 * lines are MCP messages, with one exception: a line of the host that does not begin with `{` is for the relay itself.
 */

import { listOf, parseJson, stringOf } from "@fairlead/wire/json";

/**
 * The version of the relay protocol. It must change when a new relay can no longer communicate with an older host, or
 * an older relay with a new host.
 */
export const speechNumber = 1;

/** The first line of every connection to the host. */
export interface Hello {
  readonly fairlead: number;
  readonly token: string;
  readonly version: string;
  /** What the host should do: serve a client, or run a command such as `status` or `stop`. */
  readonly wants: "serve" | "status" | "stop" | "retire";
  readonly client?: RelayClient;
}

/** The relay's client, as described by the command line and the environment of `fairlead serve`. */
export interface RelayClient {
  readonly name: string;
  readonly servers?: readonly string[];
  readonly tools?: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The global options that choose the settings files. */
  readonly root?: string;
  readonly settings?: string;
  readonly workspace: boolean;
  readonly trustWorkspace: boolean;
}

/** The host's first line. */
export type Welcome =
  | {
      readonly fairlead: number;
      readonly pid: number;
      readonly version: string;
      readonly status?: HostStatus;
      /**
       * The path of the file in which the host records the requests that it sends to servers. If absent, the host
       * writes a `sent` line for each of these requests.
       */
      readonly sentFile?: string;
    }
  | { readonly fairlead: number; readonly refused: RelayRefusal; readonly message: string };

/**
 * Why a host refuses a relay. `speech`: the relay protocol has another version. `token`: the token is wrong. `retired`:
 * a newer host has replaced this host. `invalid`: the relay's first line is invalid.
 */
export type RelayRefusal = "speech" | "token" | "retired" | "invalid";

/** The status of one host, as `fairlead daemon status` shows it. */
export interface HostStatus {
  readonly clients: readonly { readonly name: string; readonly since: number }[];
  readonly servers: readonly { readonly name: string; readonly status: string }[];
  /** The host's variable `PATH`: the folders in which the host looks for the commands of servers. */
  readonly path?: string;
}

/** A line of the host for the relay itself. */
export type RelayNote =
  /**
   * The host is about to send a request to its server. If the host is lost after this line, the request may have run.
   */
  | { readonly kind: "sent"; readonly id: string; readonly subject: string }
  /** The host cannot serve the client. The client's requests fail with this message. */
  | { readonly kind: "failed"; readonly message: string; readonly next: string | undefined }
  /** The host ends on purpose. A relay without open requests need not start a new host. */
  | { readonly kind: "bye" };

/** Returns the line that the host writes before it sends a request to its server. */
export function sentLine(id: number | string, subject: string): string {
  return `sent ${JSON.stringify([id, subject])}\n`;
}

export function failedLine(message: string, next: string | undefined): string {
  return `failed ${JSON.stringify([message, next ?? null])}\n`;
}

export const byeLine = "bye\n";

/**
 * Reads a line of the host that is not an MCP message. Returns undefined if the line is unknown, for example because
 * the host is newer.
 */
export function readNote(line: string): RelayNote | undefined {
  const [word = ""] = line.split(/[ \n]/, 1);
  if (word === "bye") return { kind: "bye" };
  const values = listOf(parseJson(line.slice(word.length)));
  if (word === "sent") return { kind: "sent", id: JSON.stringify(values[0]), subject: stringOf(values[1]) ?? "" };
  if (word === "failed")
    return { kind: "failed", message: stringOf(values[0]) ?? "the host failed", next: stringOf(values[1]) };
  return undefined;
}
