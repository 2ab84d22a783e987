/**
 * Reads the argument and options of the policy commands that say which requests a rule is for. Starts no configured
 * server.
 */

import { HostError } from "@fairlead/core/errors";
import { type DecideOptions, demoName, type Host } from "@fairlead/core/host";
import { everyResource, type RequestKind } from "@fairlead/core/policy";
import type { Configuration } from "@fairlead/core/trust";
import { type Command, Option } from "commander";
import type { Context } from "../shell/verb.ts";
import { findToolTarget, type TargetServer, type ToolTarget, targetName } from "./target.ts";
import { hasDemo } from "./with-host.ts";

/**
 * The requests that a rule is for. For `kind` other than `tool`, `tool` holds the URI, the prompt's name or a pattern.
 */
export interface Subject extends ToolTarget {
  readonly kind: RequestKind;
  /** The client of `fairlead serve` that sends the requests. If absent, the rule is for requests of any client. */
  readonly client?: string;
  /** The user of a team gateway, and a group of users. If absent, the rule is for everybody. */
  readonly user?: string;
  readonly group?: string;
  /**
   * What Fairlead knows without connecting. `tool`: the server's cached catalog has the tool. `server`: the cached
   * catalog does not have the tool. `entry`: the server has no cached catalog, or `kind` is not `tool`. `nothing`: no
   * such server is configured.
   */
  readonly found: "tool" | "server" | "entry" | "nothing";
}

const requestKinds: readonly RequestKind[] = ["tool", "resource", "prompt", "sampling", "skill", "host"];

/** Adds the argument and the options `--kind`, `--server`, `--tool`, `--client`, `--user` and `--group` to a policy command. */
export function defineSubject(command: Command, operand = "server.tool", summary = "the tool"): void {
  const kind = new Option(
    "--kind <kind>",
    "kind of request; write a resource as SERVER.URI, a prompt as SERVER.NAME, all of this kind as SERVER",
  );
  command
    .argument(`[${operand}]`, summary)
    .addOption(kind.choices([...requestKinds]).default("tool"))
    .option("--server <name>", "with --tool: the server; for names with dots, which make server.tool ambiguous")
    .option("--tool <name>", "with --server: the tool")
    .option("--client <name>", "for requests from this client of fairlead serve, such as claude-code")
    .option("--user <user>", "for requests of this user of a team gateway, as ISSUER#SUBJECT")
    .option("--group <group>", "for requests of users of a team gateway who are in this group");
}

/**
 * Reads which requests a rule is for, such as `demo.greet`. If the word does not begin with the name of a configured
 * server, the part before the first dot is the server.
 *
 * @throws HostError `usage`
 */
export async function readSubject(
  host: Host,
  configuration: Configuration,
  context: Pick<Context, "command" | "operands">,
): Promise<Subject> {
  const { client, user, group } = context.command.opts<SubjectOptions>();
  for (const [name, value] of Object.entries({ client, user, group }))
    if (value === "") throw new HostError("usage", `--${name} must not be empty`, { next: "fairlead policy list" });
  const subject = await readRequest(host, configuration, context);
  return { ...subject, client, user, group };
}

/** What `host.explain` takes for a subject. */
export function decideOptions({ kind, client, user, group }: Senders & { readonly kind?: RequestKind }): DecideOptions {
  return { kind, client, principal: principalOf({ user, group }) };
}

/** The user of a team that a rule or a question names. A group alone stands for any user who is in it. */
export function principalOf({ user, group }: Pick<Senders, "user" | "group">): DecideOptions["principal"] {
  if (user === undefined && group === undefined) return undefined;
  return { user: user ?? "", groups: group === undefined ? [] : [group] };
}

/** The senders that a rule can be limited to. */
export type Senders = Pick<Subject, "client" | "user" | "group">;

async function readRequest(
  host: Host,
  configuration: Configuration,
  { command, operands: [word] }: Pick<Context, "command" | "operands">,
): Promise<Subject> {
  const names = host.states().map(({ name }) => name);
  const { server, tool, kind = "tool" } = command.opts<SubjectOptions>();
  if (kind !== "tool") return readOtherSubject(kind, { word, server, tool }, names);
  if ((server === undefined) !== (tool === undefined))
    throw new HostError("usage", "--server and --tool must be given together");
  const isMeant = (name: string): boolean => (word === undefined ? name === server : word.startsWith(`${name}.`));
  const servers = await loadCached(names.filter(isMeant), host, configuration);
  if (server !== undefined && tool !== undefined) {
    if (word !== undefined)
      throw new HostError("usage", `"${word}" and --server/--tool both name a tool: give only one`);
    return withCatalogState({ server, tool }, names, servers);
  }
  if (word === undefined) throw new HostError("usage", "the tool's name is missing", { next: "fairlead tools" });
  if (servers.length > 0) return withCatalogState(findToolTarget(word, servers), names, servers);
  const named = word.includes(".") ? undefined : await findCachedName(word, host);
  if (named !== undefined) return { ...named, kind, found: "tool" };
  const dot = word.indexOf(".");
  if (dot <= 0 || dot === word.length - 1)
    throw new HostError("usage", `"${word}" is not of the form server.tool`, { next: "fairlead tools" });
  return { server: word.slice(0, dot), tool: word.slice(dot + 1), kind, found: "nothing" };
}

interface SubjectOptions {
  readonly server?: string;
  readonly tool?: string;
  readonly kind?: RequestKind;
  readonly client?: string;
  readonly user?: string;
  readonly group?: string;
}

const everyName: Readonly<Record<Exclude<RequestKind, "tool">, string>> = {
  resource: everyResource,
  prompt: "*",
  sampling: "*",
  skill: everyResource,
  host: "*",
};

/**
 * Reads an argument such as `SERVER.URI` for `--kind resource`, `prompt`, `sampling`, `skill` or `host`. If the argument is only a
 * server's name, the rule is for all requests of this kind.
 */
function readOtherSubject(
  kind: Exclude<RequestKind, "tool">,
  { word, server, tool }: Readonly<Record<"word" | "server" | "tool", string | undefined>>,
  names: readonly string[],
): Subject {
  const every = everyName[kind];
  const named = (name: string, what: string): Subject => {
    if (kind === "sampling" && what !== "" && what !== "*")
      throw new HostError("usage", `--kind sampling takes a server, not "${name}.${what}"`);
    const meant = what === "" || what === "*" ? every : what;
    return { server: name, tool: meant, kind, found: names.includes(name) ? "entry" : "nothing" };
  };
  if (server !== undefined && word === undefined) return named(server, tool ?? "");
  if (word === undefined && tool !== undefined)
    throw new HostError("usage", "--server and --tool must be given together");
  if (server !== undefined || tool !== undefined)
    throw new HostError("usage", `"${word}" and --server/--tool both name a ${kind}: give only one`);
  if (word === undefined) throw new HostError("usage", "no server is given", { next: "fairlead mcp list" });
  const matchingNames = names.filter((name) => word === name || word.startsWith(`${name}.`));
  const name = matchingNames.sort((a, b) => b.length - a.length)[0] ?? word.split(".", 1)[0] ?? word;
  return named(name, word.slice(name.length + 1));
}

/** Returns a text for messages, such as `demo.greet` or `resources of demo`. */
export function subjectName({ server, tool, kind = "tool" }: ToolTarget & { readonly kind?: RequestKind }): string {
  if (kind === "tool") return targetName({ server, tool });
  const isEvery = tool === "*" || tool === everyResource;
  return isEvery
    ? `${kind === "sampling" ? kind : `${kind}s`} of ${server}`
    : `${kind} ${targetName({ server, tool })}`;
}

async function findCachedName(word: string, host: Host): Promise<ToolTarget | undefined> {
  await host.recall();
  const tool = host.toolRegistry.getTool(word);
  return tool && { server: tool.serverName, tool: tool.serverToolName };
}

interface CachedServer extends TargetServer {
  readonly isRemembered: boolean;
}

/** Loads the cached catalogs. Connects to the demo server to read its catalog, because it runs inside this process. */
async function loadCached(
  names: readonly string[],
  host: Host,
  configuration: Configuration,
): Promise<readonly CachedServer[]> {
  const isOwn = (name: string): boolean => name === demoName && hasDemo(configuration);
  await host.recall(names.filter((name) => !isOwn(name)));
  if (names.some(isOwn)) await host.start({ servers: [demoName] });
  return names.map((name) => {
    const catalog = host.catalog(name);
    return { name, tools: catalog?.tools.map((tool) => tool.name) ?? [], isRemembered: catalog !== undefined };
  });
}

function withCatalogState(target: ToolTarget, names: readonly string[], servers: readonly CachedServer[]): Subject {
  const server = servers.find(({ name }) => name === target.server);
  const subject = { ...target, kind: "tool" } as const;
  if (server === undefined) return { ...subject, found: names.includes(target.server) ? "entry" : "nothing" };
  if (server.tools.includes(target.tool)) return { ...subject, found: "tool" };
  return { ...subject, found: server.isRemembered ? "server" : "entry" };
}
