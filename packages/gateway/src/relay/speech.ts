/**
 * The lines that relays and the background host exchange: first a greeting, then MCP messages. A line of the host that
 * does not begin with `{` is for the relay itself.
 */

import type { SeenList, SeenName } from "@fairlead/core/server";
import { listOf, parseJson, stringOf } from "@fairlead/wire/json";

/** The version of the relay protocol. Increase it when relays and hosts of two versions can no longer work together. */
export const speechNumber = 1;

/** The first line that a relay or a command sends to the host. `fairlead`: the version of the relay protocol. */
export interface Hello {
  readonly fairlead: number;
  readonly token: string;
  readonly version: string;
  /**
   * `serve`: serve a client. `command`: give a command sessions of running servers. `retire`: accept no new clients,
   * because a newer host has started.
   */
  readonly wants: "serve" | "command" | "status" | "stop" | "retire";
  readonly client?: RelayClient;
  readonly command?: CommandCaller;
}

/** A command that uses the background host, such as `fairlead call`. */
export interface CommandCaller {
  /** The name that `fairlead daemon status` shows. */
  readonly name: string;
  /** The user's home folder. A host with another home folder would read other settings. */
  readonly home: string;
  /** The folder of the workspace. */
  readonly cwd: string;
  /** The variables that the settings mention or depend on; null for a variable that is not set. */
  readonly env: Readonly<Record<string, string | null>>;
  /** The variables that every server gets, such as `PATH`. */
  readonly inherited: Readonly<Record<string, string>>;
  /** The command-line options that choose the settings files. */
  readonly options: {
    readonly root?: string | undefined;
    readonly settingsFile?: string | undefined;
    readonly workspace: boolean;
    readonly trustWorkspace: boolean;
  };
}

/** The client of a relay, from the options and the environment of `fairlead serve`. */
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
  /** The names that the client has seen of earlier hosts. They keep their servers. */
  readonly names?: readonly RelayName[];
}

/** A `SeenName`: the list, the server, the server's own name, and, if it differs, the name that the client has seen. */
export type RelayName = readonly [list: string, server: string, name: string, as?: string];

/** The host's first line. */
export type Welcome =
  | {
      readonly fairlead: number;
      readonly pid: number;
      readonly version: string;
      readonly status?: HostStatus;
      /** The file in which the host records sent requests. If it cannot be written, the host writes `sent` lines. */
      readonly sentFile?: string;
    }
  | { readonly fairlead: number; readonly refused: RelayRefusal; readonly message: string };

/**
 * Why a host refuses a relay. `speech`: another version of the relay protocol. `token`: wrong token. `retired`: a newer
 * host has replaced this one. `invalid`: the first line is invalid. `busy`: the host serves too many clients. `home`: the
 * command has another home folder.
 */
export type RelayRefusal = "speech" | "token" | "retired" | "invalid" | "busy" | "home";

/** The part of the host's status that `fairlead daemon status` shows. */
export interface HostStatus {
  readonly clients: readonly { readonly name: string; readonly since: number }[];
  readonly servers: readonly { readonly name: string; readonly status: string }[];
  /** The host's environment variable `PATH`: where it looks for the commands of servers. */
  readonly path?: string;
}

/** A line of the host that is for the relay itself. */
export type RelayNote =
  /** The host is about to send a request to its server. From now on, the request may have run. */
  | { readonly kind: "sent"; readonly id: string; readonly subject: string }
  /** The client is about to see these names. The relay keeps them for the next host. */
  | { readonly kind: "names"; readonly names: readonly RelayName[] }
  /** The host cannot serve the client. The client's requests fail with this message. */
  | { readonly kind: "failed"; readonly message: string; readonly next: string | undefined }
  /** The host ends on purpose. A relay without open requests then starts no new host. */
  | { readonly kind: "bye" };

/** Returns the line that the host writes before it sends a request to a server. */
export function sentLine(id: number | string, subject: string): string {
  return `sent ${JSON.stringify([id, subject])}\n`;
}

/** Returns the line that the host writes before the client sees new names. */
export function namesLine(names: readonly SeenName[]): string {
  const told = names.map(({ list, server, name, as }) => [list, server, name, ...(as === name ? [] : [as])]);
  return `names ${JSON.stringify(told)}\n`;
}

const seenLists: ReadonlyMap<string, SeenList> = new Map(
  (["tools", "prompts", "resources", "templates", "links", "skills"] as const).map((list) => [list, list]),
);

/** Reads the names in a relay's first line. Leaves out lists that only a newer host knows. */
export function toSeenNames(names: readonly RelayName[]): readonly SeenName[] {
  return names.flatMap(([listName, server, name, as = name]) => {
    const list = seenLists.get(listName);
    return list === undefined ? [] : [{ list, server, name, as }];
  });
}

/** Whether this is a list of names as a relay and a host exchange them. */
export function isRelayNames(value: unknown): value is readonly RelayName[] {
  return (
    Array.isArray(value) &&
    value.every(
      (each) =>
        Array.isArray(each) &&
        (each.length === 3 || each.length === 4) &&
        each.every((text: unknown) => typeof text === "string"),
    )
  );
}

/** Returns the line that the host writes if it cannot serve the client. `next`: what the user can do. */
export function failedLine(message: string, next: string | undefined): string {
  return `failed ${JSON.stringify([message, next ?? null])}\n`;
}

/** The line that the host writes when it ends on purpose. */
export const byeLine = "bye\n";

/** Reads a line that is for the relay. Returns undefined if it is unknown, for example from a newer host. */
export function readNote(line: string): RelayNote | undefined {
  const [word = ""] = line.split(/[ \n]/, 1);
  if (word === "bye") return { kind: "bye" };
  const values = listOf(parseJson(line.slice(word.length)));
  if (word === "sent") return { kind: "sent", id: JSON.stringify(values[0]), subject: stringOf(values[1]) ?? "" };
  if (word === "names") return { kind: "names", names: isRelayNames(values) ? values : [] };
  if (word === "failed")
    return { kind: "failed", message: stringOf(values[0]) ?? "the host failed", next: stringOf(values[1]) };
  return undefined;
}
