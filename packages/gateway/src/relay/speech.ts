/**
 * The lines that relays and the background host exchange. The first line in each direction is not MCP. The later lines
 * are MCP messages, except for lines of the host that do not begin with `{`: these are for the relay itself.
 */

/**
 * The version of the relay protocol. It changes when relays and hosts of different versions can no longer communicate.
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
       * The path of the file with the requests that were sent to their servers. If absent, the host sends `sent` lines
       * instead.
       */
      readonly sentFile?: string;
    }
  | { readonly fairlead: number; readonly refused: Refusal; readonly message: string };

/**
 * Why a host refuses a relay: the protocol version differs, the token is wrong, a newer host has replaced this one, or
 * the first line is invalid.
 */
export type Refusal = "speech" | "token" | "retired" | "invalid";

/** The status of one host, as `fairlead daemon status` shows it. */
export interface HostStatus {
  readonly clients: readonly { readonly name: string; readonly since: number }[];
  readonly servers: readonly { readonly name: string; readonly status: string }[];
}

/** A line of the host for the relay itself. */
export type RelayNote =
  /** The host is about to send the request to its server. From now on, the request may have run. */
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

/** Reads a host line that is not an MCP message. Returns undefined for a line that only newer versions define. */
export function readNote(line: string): RelayNote | undefined {
  const [word = ""] = line.split(/[ \n]/, 1);
  if (word === "bye") return { kind: "bye" };
  const values = listIn(line.slice(word.length));
  if (word === "sent") return { kind: "sent", id: JSON.stringify(values[0]), subject: textOf(values[1]) ?? "" };
  if (word === "failed")
    return { kind: "failed", message: textOf(values[0]) ?? "the host failed", next: textOf(values[1]) };
  return undefined;
}

function listIn(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
