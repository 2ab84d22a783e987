/** Opens the workspace for the lock commands: its entries and its lock file. */

import { HostError } from "@fairlead/core/errors";
import { lockPath } from "@fairlead/core/policy/lock/lock-file";
import { childNode, entriesOf, plainValueOf } from "@fairlead/core/settings/read/nodes";
import { readSource } from "@fairlead/core/settings/read/source";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust/configuration";
import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { redactEntry } from "../output/servers/entry-redaction.ts";
import { hideInUrl, hideVariable } from "../output/servers/server-redaction.ts";
import { hidden as hiddenWord, isTellingName, looksSecret } from "../output/servers/server-secrets.ts";
import { configurationOf } from "../shell/configuration.ts";
import type { Context } from "../shell/verb.ts";

export interface LockWorkspace {
  readonly configuration: Configuration;
  /** The path of the lock file, which may not exist. */
  readonly file: string;
  /** Entries by name, in the form of the lock file. */
  readonly entries: ReadonlyMap<string, JsonObject>;
}

/** @throws HostError `usage` without a workspace, `untrusted_folder` */
export async function openWorkspace(context: Context): Promise<LockWorkspace> {
  const configuration = await configurationOf(context);
  const { locations, servers } = configuration;
  const file = lockPath(locations);
  const settings = locations.files.workspace;
  if (file === undefined || settings === undefined) throw noWorkspace();
  throwIfUntrusted(configuration);
  const { root } = await readSource("workspace", settings);
  const written = entriesOf(childNode(root, "mcpServers"));
  const entries = servers.flatMap((one) => {
    if (one.server.scope !== "workspace") return [];
    const node = written.get(one.server.name)?.value;
    const entry = node === undefined ? entryOfLine(one) : plainValueOf(node);
    return isObject(entry) ? [[one.server.name, lockedEntry(entry)] as const] : [];
  });
  return { configuration, file, entries: new Map(entries) };
}

function noWorkspace(): HostError {
  const message = "no project here: the home folder is not a workspace, or --no-workspace is set";
  return new HostError("usage", message, { next: "add -C DIR for a project in another folder" });
}

function throwIfUntrusted({ trust, locations, servers, settings }: Configuration): void {
  if (trust.trusted || settings.files.every(({ state }) => state !== "ignored")) return;
  const blocked = servers.find(
    ({ admission }) => admission.status === "blocked" && admission.reason === "untrusted_folder",
  );
  const { admission } = blocked ?? {};
  const next = admission && "next" in admission ? admission.next : undefined;
  throw new HostError(
    "untrusted_folder",
    `${locations.root} is not trusted (${trust.detail}): its servers are not started`,
    {
      next: next ?? "fairlead trust add",
    },
  );
}

/** A server from `mcp.serverCommand` has no entry; its command line is locked instead. */
function entryOfLine({ server }: AdmittedServer): unknown {
  const transport = server.definition?.transport;
  return transport?.kind === "stdio" ? { command: transport.command, args: transport.args } : undefined;
}

/** Leaves out the description, which does not affect what runs. */
export function lockedEntry({ description: _words, ...entry }: JsonObject): JsonObject {
  const { env } = entry;
  const shown = Object.entries(redactEntry(entry)).map(([key, value]) => {
    if (key === "env" && isObject(env)) return [key, mapTexts(env, showVariable)] as const;
    return [key, typeof value === "string" ? hideKeys(value) : value] as const;
  });
  return Object.fromEntries(shown);
}

const address = /^[a-z][a-z0-9+.-]*:\/\//i;
const path = /^(?:~|\.{0,2}[/\\])/;
/** Keys and passwords usually mix letters and digits; words and numbers do not. */
const mixed = /[a-z]\d|\d[a-z]/i;
const longest = 200;

function showVariable(name: string, value: string): string {
  const hidden = hideVariable(name, value);
  if (isTellingName(name) || looksSecret(name, value)) return hidden;
  if (address.test(value)) return hideKeys(hideInUrl(value));
  if (path.test(value)) return value;
  return value.length > longest || isTellingName(value) || mixed.test(value) ? hidden : value;
}

/** Hides long parts of a URL that are not words: some services put an API key into the path. */
function hideKeys(text: string): string {
  if (!address.test(text)) return text;
  const isKey = (part: string): boolean => !part.startsWith("$") && mixed.test(part);
  return text.replaceAll(/\$\{[^{}]*\}|[\w-]{16,}/g, (part) => (isKey(part) ? hiddenWord : part));
}

function mapTexts(values: JsonObject, show: (name: string, text: string) => string): JsonObject {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, show(name, String(value))]));
}
