/**
 * The workspace of the lock commands: its entries, its lock file, the catalogs of its servers, and how the servers
 * differ from the lock file.
 */

import {
  hideInUrl,
  hideVariable,
  isTellingName,
  looksSecret,
  redactEntry,
} from "@fairlead/console/server/words/server-redaction";
import { type Download, findDownload } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import type { Peer, ServerState } from "@fairlead/core/events";
import { argumentSchema } from "@fairlead/core/normalise";
import { hidden as hiddenWord } from "@fairlead/core/plain-text";
import {
  compareLock,
  isEntryChanged,
  type LockDrift,
  type LockedCatalog,
  type LockFile,
  lockCatalog,
  lockPath,
  promptDigest,
} from "@fairlead/core/policy";
import {
  breakingChanges,
  type Catalog,
  type CatalogPrompt,
  type CatalogTool,
  definitionDigest,
  notConnectedError,
} from "@fairlead/core/server";
import { childNode, entriesOf, plainValueOf, readSource, type ServerDefinition } from "@fairlead/core/settings";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust";
import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import { configurationOf } from "../shell/configuration.ts";
import type { Context } from "../shell/verb.ts";
import { connectServers } from "../targets/connect-servers.ts";
import { useHost } from "../targets/with-host.ts";

/** The workspace's settings, and its entries as the lock file stores them. */
export interface LockWorkspace {
  readonly configuration: Configuration;
  /** The path of the lock file. The file need not exist. */
  readonly file: string;
  /** The entries by server name, in the form of the lock file. */
  readonly entries: ReadonlyMap<string, JsonObject>;
}

/**
 * Opens the workspace.
 * @throws HostError `usage` if there is no workspace, `untrusted_folder`
 */
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
  const message = "there is no project: this is the home folder, or --no-workspace is set";
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
    { next: next ?? "fairlead trust add" },
  );
}

/** Returns the entry to lock. A server from `mcp.serverCommand` has no entry, so its command line is locked instead. */
function entryOfLine({ server }: AdmittedServer): unknown {
  const transport = server.definition?.transport;
  return transport?.kind === "stdio" ? { command: transport.command, args: transport.args } : undefined;
}

/** Returns the entry without its description, because the description does not change which program runs. */
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
/** Matches a word that may be a key or a password: letters next to digits, which ordinary words do not have. */
const mixed = /[a-z]\d|\d[a-z]/i;
const longest = 200;

function showVariable(name: string, value: string): string {
  const hidden = hideVariable(name, value);
  if (isTellingName(name) || looksSecret(name, value)) return hidden;
  if (address.test(value)) return hideKeys(hideInUrl(value));
  if (path.test(value)) return value;
  return value.length > longest || isTellingName(value) || mixed.test(value) ? hidden : value;
}

/** Hides long parts of a URL that are not ordinary words, because some services put an API key into the path. */
function hideKeys(text: string): string {
  if (!address.test(text)) return text;
  const isKey = (part: string): boolean => !part.startsWith("$") && mixed.test(part);
  return text.replaceAll(/\$\{[^{}]*\}|[\w-]{16,}/g, (part) => (isKey(part) ? hiddenWord : part));
}

function mapTexts(values: JsonObject, show: (name: string, text: string) => string): JsonObject {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, show(name, String(value))]));
}

/** The catalog of one server, or the error if the server could not be reached. */
export type ServerSnapshot =
  | {
      readonly kind: "seen";
      readonly locked: LockedCatalog;
      readonly catalog: Catalog;
      /** The catalog that was in the catalog cache before Fairlead connected to the server. */
      readonly remembered: Catalog | undefined;
    }
  | { readonly kind: "unseen"; readonly error: HostError };

/** Connects to the named servers and returns the catalog or the error of each. */
export async function readSnapshots(
  names: readonly string[],
  { configuration }: Pick<LockWorkspace, "configuration">,
  context: Context,
): Promise<ReadonlyMap<string, ServerSnapshot>> {
  return useHost(configuration, context, async (host) => {
    await host.recall(names);
    const remembered = new Map(names.map((name) => [name, host.catalog(name)]));
    await connectServers(host, names, context);
    const states = host.states().filter(({ name }) => names.includes(name));
    return new Map(states.map((state) => [state.name, lookOf(state)]));

    function lookOf(state: ServerState): ServerSnapshot {
      const { name } = state;
      const catalog = host.catalog(name);
      const definition = configuration.servers.find(({ server }) => server.name === name)?.server.definition;
      if (state.status !== "connected" || catalog === undefined || definition === undefined)
        return { kind: "unseen", error: notConnectedError(state) };
      const locked = lockCatalog(catalog, packageVersion(definition, state.peer));
      return { kind: "seen", locked, catalog, remembered: remembered.get(name) };
    }
  });
}

const sources: Readonly<Record<Download["from"], string>> = {
  npm: "npm",
  PyPI: "pypi",
  "an image registry": "image",
};
const longestVersion = 200;

/** Returns a server's version: the exact version in its entry, otherwise the version that the server reports. */
export function packageVersion({ transport }: Pick<ServerDefinition, "transport">, { serverInfo }: Peer): string {
  const download = transport.kind === "stdio" ? findDownload(transport.command, transport.args) : undefined;
  if (download?.pinned) return `${sources[download.from]}:${download.name}`;
  return clip(`reported:${serverInfo.name}@${serverInfo.version}`, longestVersion);
}

/** How one server compares with the lock file. `drift` is undefined if Fairlead found no difference. */
export interface LockCheck {
  readonly name: string;
  readonly lock: LockFile;
  readonly drift: LockDrift | undefined;
  readonly look: ServerSnapshot | undefined;
  /** True if Fairlead did not start the server, because its entry differs from the lock file. */
  readonly isWithheld: boolean;
}

/**
 * Compares the workspace's servers with the lock file. A server that could not be reached never counts as unchanged.
 */
export async function checkLock(
  lock: LockFile,
  workspace: LockWorkspace,
  context: Context,
): Promise<readonly LockCheck[]> {
  const { entries, configuration } = workspace;
  const isWithheld = (name: string): boolean => {
    const [locked, entry] = [lock.get(name), entries.get(name)];
    // `--trust-workspace` approves every entry. This command still starts only servers whose entry matches the lock
    // file.
    if (!configuration.trust.approvesEntries || entry === undefined) return false;
    return locked === undefined || isEntryChanged(locked.entry, entry);
  };
  const looks = await readSnapshots(
    [...entries.keys()].filter((name) => !isWithheld(name)),
    workspace,
    context,
  );
  const present = [...entries].map(([name, entry]) => {
    const look = looks.get(name);
    return [name, { entry, catalog: look?.kind === "seen" ? look.locked : undefined }] as const;
  });
  const drifts = new Map(compareLock(lock, new Map(present)).map((drift) => [drift.server, drift]));
  const names = [...new Set([...entries.keys(), ...lock.keys()])];
  return names.map((name) => ({
    name,
    lock,
    drift: drifts.get(name),
    look: looks.get(name),
    isWithheld: isWithheld(name),
  }));
}

/** Returns why the server could not be reached, or undefined if it was reached or not started. */
export function errorOf({ look }: LockCheck): HostError | undefined {
  return look?.kind === "unseen" ? look.error : undefined;
}

// Finds the differences from the lock file that can break callers. Harmless differences, such as changed
// descriptions, are left out.

/**
 * Message about a changed tool that cannot be compared: the lock file has only digests of tool definitions.
 */
const unknown = "has changed, and its locked definition is not in the catalog cache";
/** Parts of a locked server that can change without breaking a caller. */
const harmless: ReadonlySet<string> = new Set(["version", "instructions"]);

/**
 * Returns the breaking differences of one server, each as one sentence. A difference that cannot be examined counts as
 * breaking.
 */
export function breakingDrift({ name, lock, drift, look }: LockCheck): readonly string[] {
  if (drift === undefined) return [];
  if (drift.kind !== "changed")
    return [drift.kind === "added" ? "the server is not locked" : "the server is no longer in the settings"];
  const { members, tools, prompts } = drift;
  const locked = lock.get(name);
  const [before, after] = look?.kind === "seen" ? [look.remembered, look.catalog] : [undefined, undefined];

  function toolChanges(tool: string): readonly string[] {
    const digest = locked?.tools.get(tool);
    const old = before?.tools.find((each) => each.name === tool && definitionDigest(each) === digest);
    const now = after?.tools.find((each) => each.name === tool);
    if (old === undefined || now === undefined) return [`tool ${tool} ${unknown}`];
    return breakingChanges(asCalled(old), asCalled(now)).map((change) => `tool ${tool}: ${change}`);
  }

  function promptChanges(prompt: string): readonly string[] {
    const digest = locked?.prompts.get(prompt);
    const old = before?.prompts.find((each) => each.name === prompt && promptDigest(each) === digest);
    const now = after?.prompts.find((each) => each.name === prompt);
    if (old === undefined || now === undefined) return [`prompt ${prompt} ${unknown}`];
    return argumentChanges(old, now).map((change) => `prompt ${prompt}: ${change}`);
  }

  return [
    ...members.flatMap(({ member }) => (harmless.has(member) ? [] : [`${member} of the entry has changed`])),
    ...tools.removed.map((tool) => `tool ${tool} was removed`),
    ...tools.changed.flatMap(toolChanges),
    ...prompts.removed.map((prompt) => `prompt ${prompt} was removed`),
    ...prompts.changed.flatMap(promptChanges),
  ];
}

/** A tool as its callers see it: a parameter with a default is optional. */
function asCalled(tool: CatalogTool): CatalogTool {
  return { ...tool, inputSchema: argumentSchema(tool.inputSchema) };
}

function argumentChanges(before: CatalogPrompt, after: CatalogPrompt): readonly string[] {
  const old = new Map(before.arguments.map((argument) => [argument.name, argument]));
  const now = new Set(after.arguments.map(({ name }) => name));
  return [
    ...after.arguments.flatMap(({ name, required }) =>
      required && old.get(name)?.required !== true ? [`the argument ${name} is now required`] : [],
    ),
    ...[...old.keys()].flatMap((name) => (now.has(name) ? [] : [`the argument ${name} was removed`])),
  ];
}
