/** The steps of an import, shared by `mcp import` and `connect --replace`: convert, store secrets, write. */

import { runsCode } from "@fairlead/console/server/words/server-notes";
import { looksSecret, secretName } from "@fairlead/console/server/words/server-redaction";
import { HostError } from "@fairlead/core/errors";
import type { SecretStore } from "@fairlead/core/files";
import {
  childNode,
  entriesOf,
  lookupFor,
  plainValueOf,
  readEnvFiles,
  readSource,
  setServerEnabled,
  writeServer,
} from "@fairlead/core/settings";
import type { Configuration } from "@fairlead/core/trust";
import { isObject, member } from "@fairlead/wire/json";
import { type Collection, collect, type PlannedServer } from "../../../import/plan.ts";
import type { ImportSource } from "../../../import/program.ts";
import type { Context } from "../../../shell/verb.ts";
import { type Destination, isApproved, removeLine, restore, type Undo } from "../add/destination.ts";

/** Moves the literal secrets of the servers into the secret store. */
export async function storeImported(
  taken: readonly PlannedServer[],
  { locations }: Configuration,
  { io }: Context,
): ReturnType<typeof storeSecrets> {
  const { openSecretStore } = await import("@fairlead/core/files/secrets/secret-store");
  const { env, platform } = io;
  return storeSecrets(taken, await openSecretStore({ directory: locations.state, env, platform }));
}

/** Reads the settings files of other MCP clients, and converts their servers for one of Fairlead's settings files. */
export async function convertSources(
  sources: readonly ImportSource[],
  { scope: target }: Destination,
  { environment, locations, trust: { trusted } }: Configuration,
): Promise<Collection> {
  const { root } = locations;
  const lookup = lookupFor(target, { environment, root, envFiles: await readEnvFiles(locations, trusted) });
  return collect(sources, { environment, root, target, trusted, lookup });
}

/** Reads the entries of the target file. @throws HostError `settings_invalid` if the file is broken */
export async function entriesIn({ scope, file }: Destination): Promise<ReadonlyMap<string, unknown>> {
  const { root, state, problems } = await readSource(scope, file);
  const [problem] = problems;
  if (state === "broken")
    throw new HostError(
      "settings_invalid",
      problem?.message ?? `${file} cannot be read`,
      problem?.next === undefined ? {} : { next: problem.next },
    );
  return new Map([...entriesOf(childNode(root, "mcpServers"))].map(([name, { value }]) => [name, plainValueOf(value)]));
}

/**
 * Writes one server. For a disabled server, writes `enabled: false` first and then the entry, so that the server cannot
 * start before it is disabled.
 */
export async function writeImported(
  { target, conversion, action }: PlannedServer,
  destination: Destination,
  before: Configuration,
  context: Context,
): Promise<Undo> {
  const { file, word, edit } = destination;
  if (!conversion.enabled) await setServerEnabled(file, target, false, edit);
  const replace = action.kind === "replace";
  // The new entry does not come from where the replaced one did.
  const serverOptions = replace ? { origin: null } : {};
  const { replaced, options } = await writeServer(file, target, conversion.entry, { ...edit, replace, serverOptions });
  if (replaced === undefined) return { undo: removeLine(target, word, context.globals) };
  const approved = await isApproved(target, before);
  return restore({ name: target, entry: replaced, approved, origin: member(options, "origin") }, destination, context);
}

// Moves the literal secrets of imported servers into the secret store.

/** A secret of an imported server, and its name in the secret store. */
export interface StoredSecret {
  readonly server: string;
  /** Where the secret was in the entry, for example `env.GITHUB_TOKEN`. */
  readonly key: string;
  readonly name: string;
  /** Whether this import stored the secret. False if the store already had the same value under this name. */
  readonly isNew: boolean;
}

/** Returns the literal secrets of an entry, each with a suggested name. `storeSecrets` changes a name that is taken. */
export function literalSecretsOf({ target, conversion }: PlannedServer): readonly FoundSecret[] {
  const found: FoundSecret[] = [];
  withStoredSecrets(target, conversion.entry, (secret) => {
    found.push(secret);
    return secret.name;
  });
  return found;
}

/** Stores the servers' secrets without overwriting others. Returns the servers with references to these secrets. */
export async function storeSecrets(
  servers: readonly PlannedServer[],
  store: SecretStore,
): Promise<{ readonly servers: readonly PlannedServer[]; readonly stored: readonly StoredSecret[] }> {
  const stored: StoredSecret[] = [];
  const storedNames = new Set(await store.list());
  const changed: PlannedServer[] = [];
  for (const server of servers) {
    const names = new Map<string, string>();
    for (const secret of literalSecretsOf(server)) {
      const { name, isNew } = await keep(secret, server.target, store, storedNames);
      names.set(secret.key, name);
      stored.push({ server: server.target, key: secret.key, name, isNew });
    }
    const entry = withStoredSecrets(server.target, server.conversion.entry, ({ key, name }) => names.get(key) ?? name);
    changed.push({ ...server, conversion: { ...server.conversion, entry } });
  }
  return { servers: changed, stored };
}

/**
 * Stores one secret. If its name is already used for a different value, the name gets the server's name as a prefix.
 */
async function keep(
  { name, value }: FoundSecret,
  server: string,
  store: SecretStore,
  storedNames: Set<string>,
): Promise<{ readonly name: string; readonly isNew: boolean }> {
  const longer = secretName(`${server}_${name}`);
  for (let count = 0; ; count += 1) {
    const free = (count === 0 ? name : count === 1 ? longer : `${longer}_${count}`).slice(-128);
    if (!storedNames.has(free)) {
      await store.set(free, value);
      storedNames.add(free);
      return { name: free, isNew: true };
    }
    if ((await store.get(free)) === value) return { name: free, isNew: false };
  }
}

// Replaces the literal secrets of an imported entry by references to the secret store. Pure functions.

type Entry = Readonly<Record<string, unknown>>;

/** A literal secret found in an imported entry. */
interface FoundSecret {
  /** Where the secret is in the entry, for example `env.GITHUB_TOKEN`. */
  readonly key: string;
  readonly value: string;
  /** The suggested name in the store. If the store has another value with this name, the secret gets a longer name. */
  readonly name: string;
}

/** Returns the name under which the secret is stored. */
type NameSecret = (secret: FoundSecret) => string;

/** Returns the entry with `${secret:NAME}` in place of each literal secret. Other text does not change. */
export function withStoredSecrets(server: string, entry: Entry, nameOf: NameSecret): Entry {
  const refer = (key: string, value: string, name: string): string => {
    // In settings, `$$` stands for one dollar sign.
    const secret = { key, value: value.replaceAll("$$", "$"), name };
    return `\${secret:${nameOf(secret)}}`;
  };
  const ofServer = (name: string): string => secretName(`${server}_${name.replaceAll(/([a-z])(?=[A-Z])/g, "$1_")}`);
  return Object.fromEntries(
    Object.entries(entry).map(([key, value]) => {
      if ((key === "env" || key === "headers" || key === "oauth") && isObject(value)) {
        const texts = Object.entries(value).map(([name, text]) => {
          if (typeof text !== "string") return [name, text];
          if (!looksSecret(name, text))
            return [name, isAddress(text) ? inAddress(text, `${key}.${name}`, `${name}_`) : text];
          const [, scheme = "", secret = text] = /^((?:Bearer|Basic|Token)\s+)(\S[\s\S]*)$/i.exec(text) ?? [];
          const stored = key === "env" ? secretName(name) : ofServer(name);
          return [name, scheme + refer(`${key}.${name}`, secret, stored)];
        });
        return [key, Object.fromEntries(texts)];
      }
      if ((key === "url" || key === "httpUrl") && typeof value === "string") return [key, inAddress(value, key)];
      // An argument that is program code stays unchanged, because the user approves exactly this code.
      if (key === "args" && Array.isArray(value) && !runsCode(String(entry["command"]), value.map(String)))
        return [key, value.map((argument, at) => inArgument(argument, value[at - 1], `args[${at}]`))];
      return [key, value];
    }),
  );

  function inAddress(address: string, key: string, prefix = ""): string {
    return address
      .replace(/^([\w+.-]+:\/\/[^/?#:@]*:)([^/?#@]*)(?=@)/, (all, start: string, password: string) =>
        looksSecret("password", password)
          ? start + refer(`${key} (its password)`, password, ofServer(`${prefix}PASSWORD`))
          : all,
      )
      .replaceAll(/([?&])([^=&#?\s]+)=([^&#\s]*)/g, (all, sign: string, name: string, text: string) =>
        looksSecret(name, text)
          ? `${sign}${name}=${refer(`${key} (its parameter ${name})`, text, ofServer(prefix + name))}`
          : all,
      );
  }

  function inArgument(argument: unknown, before: unknown, key: string): unknown {
    if (typeof argument !== "string") return argument;
    const [, flag = "", text = ""] = /^(--?[\w.-]+)=([\s\S]+)$/.exec(argument) ?? [];
    if (flag !== "" && looksSecret(flag, text) && !isPath(text))
      return `${flag}=${refer(key, text, ofServer(nameOfFlag(flag)))}`;
    const isValue = typeof before === "string" && /^--?[\w.-]+$/.test(before) && !argument.startsWith("-");
    if (isValue && looksSecret(before, argument) && !isPath(argument))
      return refer(key, argument, ofServer(nameOfFlag(before)));
    return isAddress(argument) ? inAddress(argument, key) : argument;
  }
}

/** Whether the text is a URL of any scheme, including databases such as `postgres://…`. */
function isAddress(text: string): boolean {
  return /^[a-z][\w+.-]*:\/\//i.test(text);
}

function isPath(text: string): boolean {
  return /^(~|\.{1,2})?[/\\]/.test(text);
}

function nameOfFlag(flag: string): string {
  return flag.replace(/^-+/, "");
}
