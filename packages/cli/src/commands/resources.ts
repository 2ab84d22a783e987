/** `fairlead resources` lists resources; `fairlead read` prints or saves the contents of one. */

import { HostError } from "@fairlead/core/errors";
import { demoName, type Host, type HostResource } from "@fairlead/core/host";
import { closest, toShellWord } from "@fairlead/core/plain-text";
import {
  findResource,
  nearResources,
  type ResourceAddress,
  serversNamedBy,
  toWishes,
  withScheme,
  writeReference,
} from "@fairlead/core/request";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { defineTimeoutOption, timeoutOption } from "../arguments/duration.ts";
import { defineArgOption, fillTemplate, type NamedValue, variablesOf } from "../arguments/named-values.ts";
import { defineImageOption, imageDrawing } from "../output/reports/inline-image.ts";
import { createProgressLine } from "../output/reports/progress.ts";
import { reportReading } from "../output/reports/result-reports.ts";
import { resourcesText, sharedUris, textByServer } from "../output/tools/lists.ts";
import { columnsOf } from "../output/wrap.ts";
import { configurationOf } from "../shell/configuration.ts";
import { openSavePlace } from "../shell/save-media.ts";
import { confirmTypedRequest } from "../shell/typed-confirmation.ts";
import { type Context, nameHint, usageError, type Verb } from "../shell/verb.ts";
import { defineAdHocOptions, isAddress, openAdHoc } from "../targets/ad-hoc.ts";
import { backgroundFor, defineAloneOption } from "../targets/background.ts";
import { connectServer, lookUp, namesOf } from "../targets/look-up.ts";
import { isDeniedByName, type ToolTarget } from "../targets/target.ts";
import { defineListOptions, listHelp, warnOfTruncatedLists, withCatalogs } from "../targets/with-catalogs.ts";
import { useHost } from "../targets/with-host.ts";

interface Options {
  readonly server?: string;
  readonly arg?: readonly NamedValue[];
  readonly save?: string;
  readonly yes?: boolean;
  readonly timeout?: string;
}

const read: Verb = {
  help: `
How to write a resource (the @ is optional):
  @notes://today         the resource notes://today of the server "notes", or its
                         only resource whose URI ends with ://today
  notes:file:///x.txt    the resource file:///x.txt of the server "notes"; also
                         notes.file:///x.txt
  file:///x.txt          this URI, if exactly one server has it
  notes.today            the resource named "today" of the server "notes"; without
                         the server, of the first server that has one
  'notes://{day}'        a template, with --arg day=monday

Connects to the resource's server, and to servers without a cached catalog only if
one of them could have the resource. Prints text to stdout and describes binary
contents. --save PATH saves into the folder PATH if PATH exists as a folder or ends
with /, else as the new file PATH. It never overwrites a file.

Examples:
  fairlead read demo://about
  fairlead read @demo://picture --save .
  fairlead read 'demo://knots/{name}' --arg name=bowline
  fairlead read --server demo demo://knots/reef-knot --json`,

  define(command) {
    command
      .argument("<resource>", "@server://path, server:uri, server.name, a URI, or a template")
      .argument("[uri]", "after the name of a server: a URI or template of this server, as with --server")
      .option("--server <server>", "the server's name or URL; the resource is then a URI or template of this server")
      .option("--save <path>", "save into this folder, or as this new file")
      .option("--yes", "confirm this read in advance; deny rules still apply");
    defineArgOption(command, "a value for a variable of a template (repeatable)");
    defineTimeoutOption(command);
    defineImageOption(command);
    defineAdHocOptions(command);
    defineAloneOption(command);
  },

  async run(context) {
    const { server, arg: values = [], save, yes: isYes = false } = context.command.opts<Options>();
    const timeout = timeoutOption(context.command.opts<Options>());
    const { io, globals } = context;
    const [first = "", second] = context.operands;
    if (second !== undefined && server !== undefined)
      throw usageError(`unexpected "${second}" after "${first}"`, context);
    const configured = await configurationOf(context);
    const typed = await openAdHoc(isAddress(server) ? server : undefined, configured, context);
    const background = typed === undefined ? backgroundFor(configured, context) : undefined;
    const use = async (host: Host): Promise<void> => {
      const named = typed?.name ?? server ?? (second === undefined ? undefined : serverNamed(first, host));
      const address = await findReadable(second ?? first, named, values, host, context);
      const destination = save === undefined ? undefined : await openSavePlace(save, io.cwd);
      const { server: owner, uri } = address;
      if (!(await isDeniedByName(owner, uri, "resource", host))) await connectServer(owner, host, context);
      await typed?.keep();
      const { beside, withAdvice } = await confirmTypedRequest({ title: uri, isYes }, host, context);
      const progress = createProgressLine(safe`${toSafeLine(uri)}`, io, globals);
      const reading = host.readResource(owner, uri, { signal: io.signal, ...timeout, ...beside(progress) });
      const result = await withAdvice(reading).finally(progress.clear);
      await reportReading({ address, result, destination, draw: imageDrawing(context) }, context);
    };
    await useHost(typed?.configuration ?? configured, context, use, { background });
  },
};

/** @throws HostError `server_unknown` */
function serverNamed(name: string, host: Host): string {
  if (namesOf(host).includes(name)) return name;
  const hint = nameHint(name, namesOf(host));
  throw new HostError("server_unknown", `there is no server "${name}"${hint}`, { next: "fairlead mcp list" });
}

/**
 * Finds the server and the URI for the typed word: `@server://path`, `server:uri`, a bare URI, or a template with
 * values. `server` is the value of `--server`: if it is set, the word is a URI or a template of that server, even if the
 * server does not list it.
 */
async function findReadable(
  word: string,
  server: string | undefined,
  values: readonly NamedValue[],
  host: Host,
  context: Context,
): Promise<ResourceAddress> {
  const target = word.replace(/^@/, "");
  const isTemplate = variablesOf(target).length > 0;
  if (values.length > 0 && !isTemplate)
    throw usageError(`--arg works only with a template, and "${target}" has no variables`, context);
  if (server !== undefined) return { server, uri: isTemplate ? fillTemplate(target, values) : target };
  const isUri = withScheme.test(target);
  const dotted = isTemplate || isUri ? [] : serversNamedBy(target, namesOf(host));
  const named = [...new Set([...toWishes(target, namesOf(host)).map((wish) => wish.server), ...dotted])];
  // Any server may have the URIs `x://p` and `x.y://p`, not only the server "x", so all servers are searched.
  const isOpen = named.every((name) => target.startsWith(`${name}://`) || (isUri && target.startsWith(`${name}.`)));
  const find = isTemplate ? () => findTemplate(target, host) : () => findListed(target, host);
  const byName = {
    serverOf: (address: ResourceAddress): string => address.server,
    commandFor: (owner: string): string => `fairlead read ${toShellWord(`${owner}.${target}`)}`,
  };
  const refuse = ({ server: owner }: ToolTarget): Promise<unknown> => host.readResource(owner, target);
  const bare =
    isUri && !isTemplate && named.length === 0 ? ({ kind: "resource", name: target, refuse } as const) : undefined;
  const search = { named, isOpen, find, byName: isTemplate || isUri ? undefined : byName, bare };
  const found = await lookUp(search, host, context);
  return { ...found, uri: isTemplate ? fillTemplate(found.uri, values) : found.uri };
}

function findListed(target: string, host: Host): ResourceAddress | HostError {
  const { resourceRegistry: resources } = host;
  const malformed = findMalformedTemplate(target, host);
  if (malformed !== undefined) return malformed;
  const found = findResource(target, { servers: namesOf(host), resources });
  switch (found.kind) {
    case "resource":
      return { server: found.server, uri: found.uri };
    case "unresolved":
      return found.error;
    case "other": {
      const byName = findByName(target, host);
      if (byName !== undefined) return byName;
      const near = nearResources(target, resources.getAllResources());
      const ways = near.map(({ serverName, uri }) => writeReference(serverName, uri));
      const suggestion = ways.length === 0 ? "" : `; did you mean ${ways.join(" or ")}?`;
      return new HostError("usage", `"${target}" is not the URI of a resource${suggestion}`, {
        next: "fairlead resources",
      });
    }
  }
}

function findMalformedTemplate(target: string, host: Host): HostError | undefined {
  for (const one of host.resources()) {
    if (one.kind !== "template" || one.unusable === undefined) continue;
    const { server: serverName, uriTemplate, unusable } = one;
    if (target !== uriTemplate && target !== `${serverName}:${uriTemplate}`) continue;
    const next = `fairlead resources ${toShellWord(serverName)}`;
    return new HostError("usage", `${uriTemplate} of "${serverName}" is unusable: ${unusable}`, { serverName, next });
  }
  return undefined;
}

/**
 * Finds a resource by `server.name`, or by its bare name. A bare name means the first server in the settings that has a
 * resource of that name. The demo server is not searched.
 */
function findByName(target: string, host: Host): ResourceAddress | HostError | undefined {
  const all = host.resourceRegistry.getAllResources();
  const pairs = all.filter(({ serverName, name }) => `${serverName}.${name}` === target);
  const [first] = pairs.length > 0 ? pairs : all.filter((one) => one.name === target && one.serverName !== demoName);
  if (first === undefined) return undefined;
  const same = all.filter(({ serverName, name }) => serverName === first.serverName && name === first.name);
  if (same.length === 1) return { server: first.serverName, uri: first.uri };
  const ways = same.slice(0, 5).map(({ serverName, uri }) => writeReference(serverName, uri));
  return new HostError(
    "usage",
    `"${target}" is ambiguous, it matches ${same.length} resources: write ${ways.join(" or ")}`,
  );
}

/** Finds a resource template. Its variables are not filled in yet. */
function findTemplate(target: string, { resourceRegistry }: Host): ResourceAddress | HostError {
  const templates = resourceRegistry.getAllTemplates();
  const found = templates.filter(({ serverName, uriTemplate }) =>
    [uriTemplate, `${serverName}:${uriTemplate}`, `${serverName}.${uriTemplate}`].includes(target),
  );
  const [only, second] = found;
  if (only === undefined) {
    const near = closest(
      target,
      templates.map(({ uriTemplate }) => uriTemplate),
    );
    const suggestion = near === undefined ? "" : `; did you mean ${toShellWord(near)}?`;
    return new HostError("usage", `no server has the template "${target}"${suggestion}`, {
      next: "fairlead resources",
    });
  }
  if (second === undefined) return { server: only.serverName, uri: only.uriTemplate };
  const ways = found.map(({ serverName }) => `--server ${toShellWord(serverName)}`);
  throw new HostError(
    "usage",
    `"${target}" is ambiguous: more than one server has this template; add ${ways.join(" or ")}`,
  );
}

// `fairlead resources`: lists the resources and templates of servers.

const list: Verb = {
  help: `${listHelp("resources")}
  notes://today (Today, text/plain, 2.1 kB)   a resource with its title, type and size
  notes://{day} --arg day=…                   a template with its variables

Examples:
  fairlead resources
  fairlead resources demo
  fairlead resources demo --json
  fairlead resources --stdio 'npx -y @modelcontextprotocol/server-everything'`,

  define(command) {
    defineListOptions(command, "resources");
    defineAdHocOptions(command);
  },

  async run(context) {
    await withCatalogs(context, ({ host, server, isTyped }) => {
      const resources = host.resources(server);
      warnOfTruncatedLists(host, server, ["resources", "resourceTemplates"], context);
      if (context.globals.json) context.out.json(toDocument(resources));
      else print(resources, sharedUris(host.resources()), context);
      if (!isTyped && !context.globals.json) leadOn(host, resources, context);
    });
  },
};

function toDocument(all: readonly HostResource[]): object {
  const resources: object[] = [];
  const resourceTemplates: object[] = [];
  for (const one of all) {
    const { kind: _kind, ...item } = one;
    if (one.kind === "resource") resources.push(item);
    else resourceTemplates.push({ ...item, variables: variablesOf(one.uriTemplate) });
  }
  return { resources, resourceTemplates };
}

function print(
  resources: readonly HostResource[],
  isShared: ReturnType<typeof sharedUris>,
  { io, out }: Context,
): void {
  const options = { style: out.style, columns: columnsOf(io.stdout), isShared };
  const text = textByServer(resources, (server, own) => resourcesText(server, own, options));
  if (text !== undefined) out.print(text);
  else out.say(safe`No resources to show. To see some: fairlead resources demo`);
}

/** Prints which command the user can try next. */
function leadOn({ resourceRegistry }: Host, resources: readonly HostResource[], { out }: Context): void {
  const example = resources.find((resource) => resource.kind === "resource");
  if (example === undefined) return;
  const { server, uri } = example;
  const isUnique = resourceRegistry.findByUri(uri).length === 1 && /^[\w+.-]+:/.test(uri);
  out.say(safe`\nTry: fairlead read ${toSafeLine(toShellWord(isUnique ? uri : `${server}:${uri}`))}`);
}

export const verbs: Readonly<Record<"read" | "list", Verb>> = { read, list };
