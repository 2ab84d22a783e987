/**
 * Tries another version of a server before its entry is written: starts it in its sandbox, only lists what it has, and
 * compares that with what the server lists now. Nothing of the try counts later, except what the user accepts with the entry.
 */

import { removePrivateFolder } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import type { ServerFlag } from "@fairlead/core/host";
import { toShellWord } from "@fairlead/core/plain-text";
import {
  type Catalog,
  CatalogCache,
  type CatalogTool,
  type Difference,
  definitionDigest,
  differenceOf,
  membersDifference,
  notConnectedError,
  toAccepted,
} from "@fairlead/core/server";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { type AdmittedServer, type Configuration, isServerNameTaken, withTriedEntry } from "@fairlead/core/trust";
import type { NewSecret } from "@fairlead/registry/registry/inputs";
import { isObject } from "@fairlead/wire/json";
import type { Style } from "../../../output/output.ts";
import { differenceLines } from "../../../output/policy/rule-lines.ts";
import { flagLines } from "../../../output/tools/lists.ts";
import type { Context } from "../../../shell/verb.ts";
import { connectServers } from "../../../targets/connect-servers.ts";
import { useHost } from "../../../targets/with-host.ts";
import type { Entry } from "../add/new-entry.ts";

interface ChangedItem {
  readonly kind: ServerFlag["kind"];
  /** The name of the tool or prompt, or the address of the resource. Empty for the server's instructions. */
  readonly name: string;
  readonly difference: readonly Difference[];
}

/** How the definitions of two versions differ, and what is suspicious in the new ones. */
interface DefinitionDifferences {
  readonly added: readonly ChangedItem[];
  readonly removed: readonly Pick<ChangedItem, "kind" | "name">[];
  readonly changed: readonly ChangedItem[];
  /** The flags of what is added or changed. */
  readonly flags: readonly ServerFlag[];
  /** Why the version of now could not be listed. Everything then counts as added. */
  readonly unknownBefore?: string | undefined;
}

/** What a version listed when it was tried. */
export interface TriedDefinitions {
  readonly tools: readonly CatalogTool[];
  readonly differences: DefinitionDifferences;
}

/** What to start, under which version, and the secrets that are not stored yet. */
export interface TriedVersion {
  readonly entry: Entry;
  readonly version: string;
  readonly secrets: readonly NewSecret[];
}

/**
 * Starts the version once and compares it with the server.
 *
 * @throws HostError if it does not start; the settings are unchanged
 */
export async function tryVersion(
  { server }: Pick<AdmittedServer, "server">,
  { entry, version, secrets }: TriedVersion,
  configuration: Configuration,
  context: Context,
): Promise<TriedDefinitions> {
  const { name, definition } = server;
  const before = await listNow(name, configuration, context);
  const as = Object.hasOwn(entry, "command") ? freeName(`${name}-${version}`, configuration) : name;
  const wider = await withTriedEntry(configuration, server, { as, entry: withSecrets(entry, secrets) });
  const { state } = configuration.locations;
  try {
    const { catalog, flags } = await listTried(as, wider.configuration, context).catch((error: unknown) => {
      if (!(error instanceof HostError) || error.code === "cancelled") throw error;
      throw new HostError(error.code, `version ${version} of "${name}" does not start: ${error.message}`, {
        serverName: name,
        next: `nothing was changed; to update without trying it: fairlead mcp update ${toShellWord(name)} --to ${toShellWord(version)} --no-test`,
      });
    });
    const accepted = definition && (await cacheIn(state).readAccepted(definition));
    const isAccepted = (tool: CatalogTool): boolean =>
      accepted?.of(tool.name)?.includes(definitionDigest(tool)) ?? true;
    const found = compare(before.catalog, catalog, isAccepted);
    const concerned = [...found.added, ...found.changed];
    return {
      tools: catalog.tools,
      differences: {
        ...found,
        flags: flags
          .filter((flag) => concerned.some(({ kind, name: item }) => kind === flag.kind && item === flag.name))
          .map((flag) => ({ ...flag, server: name })),
        unknownBefore: before.why,
      },
    };
  } finally {
    const tried = wider.tried.server.definition;
    if (tried !== undefined && as !== name) await removePrivateFolder(tried, state);
  }
}

/** Accepts the definitions that the user saw, for the entry that is in the settings now. */
export async function acceptTried(
  name: string,
  tried: TriedDefinitions | undefined,
  { servers, locations }: Configuration,
): Promise<void> {
  const definition = servers.find(({ server }) => server.name === name)?.server.definition;
  if (tried === undefined || definition === undefined || tried.tools.length === 0) return;
  const digests = tried.tools.map((tool) => [tool.name, [definitionDigest(tool)]] as const);
  await cacheIn(locations.state).addAccepted(definition, new Map(digests));
}

function cacheIn(state: string): CatalogCache {
  return new CatalogCache({ state, secret: async () => undefined });
}

/** What the server lists now, from the cache or from the server itself. */
async function listNow(
  name: string,
  configuration: Configuration,
  context: Context,
): Promise<{ readonly catalog: Catalog | undefined; readonly why?: string }> {
  return useHost(configuration, context, async (host) => {
    await host.recall([name]);
    const cached = host.catalog(name);
    if (cached !== undefined) return { catalog: cached };
    await connectServers(host, [name], context);
    const state = host.states().find((each) => each.name === name);
    if (state?.status === "connected") return { catalog: host.catalog(name) };
    return { catalog: undefined, why: state ? notConnectedError(state).message : "it is not in the settings" };
  });
}

async function listTried(
  name: string,
  configuration: Configuration,
  context: Context,
): Promise<{ readonly catalog: Catalog; readonly flags: readonly ServerFlag[] }> {
  const nothing = async () => toAccepted({});
  const forgetful = { read: nothing, add: nothing, checkWritable: async () => {} };
  return useHost(
    configuration,
    context,
    async (host) => {
      // A flag says if a text mentions another server's tools.
      await host.recall();
      await connectServers(host, [name], context);
      const state = host.states().find((each) => each.name === name);
      const catalog = host.catalog(name);
      if (state?.status === "connected" && catalog !== undefined) return { catalog, flags: host.flags(name) };
      throw state ? notConnectedError(state) : new HostError("internal", "it was not started");
    },
    { acceptedDefinitions: forgetful, interactive: false },
  );
}

function freeName(wanted: string, configuration: Configuration): string {
  let name = wanted;
  for (let number = 2; isServerNameTaken(name, configuration); number += 1) name = `${wanted}-${number}`;
  return name;
}

/** The entry with the values of secrets that are stored only after the last yes. */
function withSecrets(entry: Entry, secrets: readonly NewSecret[]): Entry {
  const fill = (value: unknown): unknown => {
    if (typeof value === "string")
      return secrets.reduce(
        (text, { name, value: secret }) => text.replaceAll(`\${secret:${name}}`, () => secret.replaceAll("$", "$$$$")),
        value,
      );
    if (Array.isArray(value)) return value.map(fill);
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fill(each)]));
  };
  return Object.fromEntries(Object.entries(entry).map(([key, value]) => [key, fill(value)]));
}

type Items = ReadonlyMap<string, object>;

/** Everything of a catalog that a person or a model reads, by kind and name. */
function itemsOf(catalog: Catalog | undefined): ReadonlyMap<ChangedItem["kind"], Items> {
  const { tools = [], prompts = [], resources = [], resourceTemplates = [], skills = [], instructions } = catalog ?? {};
  return new Map<ChangedItem["kind"], Items>([
    ["instructions", new Map(instructions === undefined ? [] : [["", { instructions }]])],
    ["tool", new Map(tools.map((tool) => [tool.name, tool]))],
    ["prompt", new Map(prompts.map((prompt) => [prompt.name, promptMembers(prompt)]))],
    ["resource", new Map(resources.map((resource) => [resource.uri, readable(resource)]))],
    ["template", new Map(resourceTemplates.map((template) => [template.uriTemplate, readable(template)]))],
    ["skill", new Map(skills.map(({ uri, name, description }) => [uri, { name, description }]))],
  ]);
}

function promptMembers({ name, title, description, arguments: list }: Catalog["prompts"][number]): object {
  const args = Object.fromEntries(list.map(({ name: argument, ...rest }) => [argument, rest]));
  return { name, ...(title && { title }), ...(description && { description }), arguments: args };
}

function readable(item: Catalog["resources"][number] | Catalog["resourceTemplates"][number]): object {
  const { name, title, description, mimeType } = item;
  return { name, ...(title && { title }), ...(description && { description }), ...(mimeType && { mimeType }) };
}

/** Its members are in the order in which those of an added tool are shown. */
const noTool: CatalogTool = { name: "", description: "", inputSchema: {} };

function compare(
  before: Catalog | undefined,
  after: Catalog,
  isAccepted: (tool: CatalogTool) => boolean,
): Pick<DefinitionDifferences, "added" | "removed" | "changed"> {
  const [old, now] = [itemsOf(before), itemsOf(after)];
  const added: ChangedItem[] = [];
  const removed: Pick<ChangedItem, "kind" | "name">[] = [];
  const changed: ChangedItem[] = [];
  for (const [kind, items] of now) {
    const earlier = old.get(kind);
    for (const [name, item] of items) {
      const was = earlier?.get(name);
      if (was === undefined) {
        added.push({ kind, name, difference: differenceIn(kind, undefined, item) });
        continue;
      }
      const difference = differenceIn(kind, was, item);
      // The server lists this definition already, but the user has not accepted it yet.
      const isNews = kind === "tool" && difference.length === 0 && !isAccepted(item as CatalogTool);
      if (difference.length > 0) changed.push({ kind, name, difference });
      else if (isNews) changed.push({ kind, name, difference: differenceIn(kind, undefined, item) });
    }
    for (const name of earlier?.keys() ?? []) if (!items.has(name)) removed.push({ kind, name });
  }
  return { added, removed, changed };
}

function differenceIn(kind: ChangedItem["kind"], before: object | undefined, after: object): readonly Difference[] {
  const all =
    kind === "tool"
      ? differenceOf((before as CatalogTool | undefined) ?? noTool, after as CatalogTool)
      : membersDifference(before ?? {}, after);
  if (before !== undefined) return all;
  // Of an added item, the heading has the name already.
  return all.flatMap(({ member, after: now }) =>
    member === "name" || now === undefined ? [] : [{ member, after: now }],
  );
}

/** The differences as text: one heading for each item, its changed members, and its flags. */
export function definitionsText(
  { added, removed, changed, flags, unknownBefore }: DefinitionDifferences,
  style: Style,
): SafeText {
  const lines = (verb: SafeText, items: readonly ChangedItem[]): readonly SafeText[] =>
    items.flatMap(({ kind, name, difference }) => [
      heading(kind, name, verb),
      ...differenceLines(difference, safe`    `),
      ...flagLines(
        flags.filter((flag) => flag.kind === kind && flag.name === name),
        style,
        safe`    `,
      ),
    ]);
  const all = [
    ...lines(safe`changed`, changed),
    ...lines(safe`added`, added),
    ...removed.map(({ kind, name }) => heading(kind, name, safe`removed`)),
  ];
  const doubt =
    unknownBefore === undefined
      ? []
      : [safe`  the definitions of now are unknown (${toVisibleLine(unknownBefore)}): everything counts as added`];
  return joinSafe([
    ...doubt,
    ...(all.length === 0 ? [safe`  its tools, prompts and resources are defined as before`] : all),
  ]);
}

function heading(kind: ChangedItem["kind"], name: string, verb: SafeText): SafeText {
  const subject = name === "" ? safe`` : safe`: ${toVisibleLine(name)}`;
  return safe`  ${toSafeLine(kind)} ${verb}${subject}`;
}
