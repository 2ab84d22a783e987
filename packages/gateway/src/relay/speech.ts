/**
 * What relays and the background host say to each other beside MCP messages: one line of greeting each way, then
 * MCP's own lines. A line of the host that does not begin with `{` is for the relay itself.
 */

/** Changes when relays and hosts of different versions can no longer talk. */
export const speechNumber = 1;

/** The first line of every connection to the host. */
export interface Hello {
  readonly fairlead: number;
  readonly token: string;
  readonly version: string;
  /** A client to serve, or one thing to do. */
  readonly wants: "serve" | "status" | "stop" | "retire";
  readonly client?: RelayClient;
}

/** The client of a relay, as the command line and the environment of `fairlead serve` describe it. */
export interface RelayClient {
  readonly name: string;
  readonly servers?: readonly string[];
  readonly tools?: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The global options that choose the settings. */
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
      /** The file with the requests that were sent to their servers. Without it, the host writes `sent` lines. */
      readonly sentFile?: string;
    }
  | { readonly fairlead: number; readonly refused: Refusal; readonly message: string };

/** Why a host does not serve: another speech number, a wrong token, or a newer host has replaced it. */
export type Refusal = "speech" | "token" | "retired" | "invalid";

/** What `fairlead daemon status` shows of one host. */
export interface HostStatus {
  readonly clients: readonly { readonly name: string; readonly since: number }[];
  readonly servers: readonly { readonly name: string; readonly status: string }[];
}

/** A line of the host for the relay itself. */
export type RelayNote =
  /** This request is about to be sent to its server: from now on it may have run. */
  | { readonly kind: "sent"; readonly id: string; readonly subject: string }
  /** The client cannot be served; its requests fail with this message. */
  | { readonly kind: "failed"; readonly message: string; readonly next: string | undefined }
  /** The host ends on purpose: a relay without open requests need not start another one. */
  | { readonly kind: "bye" };

/** The line before a request is sent to its server. */
export function sentLine(id: number | string, subject: string): string {
  return `sent ${JSON.stringify([id, subject])}\n`;
}

export function failedLine(message: string, next: string | undefined): string {
  return `failed ${JSON.stringify([message, next ?? null])}\n`;
}

export const byeLine = "bye\n";

/** Reads a line of the host that is not an MCP message; undefined for one of a newer version. */
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
