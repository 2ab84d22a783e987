/** `fairlead mcp sandbox NAME --learn`: tries a server in its sandbox, and proposes what its profile lacks. */

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { boxContents, type Learned, learnFrom, logPath, settingsFolders } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import type { OpenedHost } from "@fairlead/core/host";
import { toShellWord } from "@fairlead/core/plain-text";
import { readRecording } from "@fairlead/core/recordings";
import { notConnectedError } from "@fairlead/core/server";
import { type ServerDefinition, sandboxLine, setServerSandbox } from "@fairlead/core/settings";
import { type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust";
import { isObject } from "@fairlead/wire/json";
import { configurationOf } from "../../shell/configuration.ts";
import { canAsk, confirm } from "../../shell/prompt.ts";
import type { Context } from "../../shell/verb.ts";
import { connectServers } from "../../targets/connect-servers.ts";
import { useHost } from "../../targets/with-host.ts";
import { approveWritten, destinationOf, isApproved, restore, type Undo } from "./add/destination.ts";
import { findServer } from "./find-server.ts";
import { plannedProgram } from "./planned-program.ts";

export interface LearnOptions {
  readonly recording?: string;
  readonly watch?: boolean;
  readonly yes?: boolean;
}

type Boxed = ServerDefinition & { readonly sandbox: NonNullable<ServerDefinition["sandbox"]> };

/** Each try can find what the one before did not reach. */
const mostTries = 12;
const mostCalls = 50;

interface Call {
  readonly tool: string;
  readonly outcome: "worked" | "failed" | "not allowed";
}

interface Try {
  readonly calls: readonly Call[];
  readonly failure: HostError | undefined;
  readonly learned: Learned;
}

/** A profile as the settings have it. */
type Profile = Readonly<Record<"read" | "write" | "hosts" | "tcp" | "env", readonly string[]>>;

export async function learnSandbox(name: string, options: LearnOptions, context: Context): Promise<void> {
  const { io, out, globals } = context;
  let undo: Undo | undefined;
  let last: Try | undefined;
  let profile: Profile | undefined;
  for (let count = 0; count < mostTries; count++) {
    const configuration = await configurationOf(context);
    const found = findServer(configuration, name);
    const boxed = boxedDefinition(found);
    last = await tryServer(boxed, found, configuration, options, context);
    const { learned } = last;
    profile = extended(boxed, learned, configuration);
    const isMore = learned.read.length + learned.write.length + learned.hosts.length > 0;
    if (!globals.json) print(last, context);
    if (!isMore && found.server.definition?.sandbox !== undefined) break;
    if (!globals.json) printChange(found, learned, profile, context);
    const isWanted = options.yes === true || (!globals.json && canAsk(io) && (await confirm(io, safe`Write it?`)));
    if (!isWanted) {
      if (!globals.json) out.say(safe`next: fairlead mcp sandbox ${toSafeLine(toShellWord(name))} --learn --yes`);
      break;
    }
    undo = await write(found, profile, undo, configuration, context);
    if (!isMore || options.watch === true) break;
  }
  const undoLine = undo !== undefined && "undo" in undo ? undo.undo : undefined;
  if (globals.json && last !== undefined)
    out.json({
      server: name,
      calls: last.calls,
      works: last.failure === undefined,
      error: last.failure?.message,
      refused: last.learned,
      proposal: profile,
      written: undo !== undefined,
      undo: undoLine,
    });
  else if (undoLine !== undefined) out.undo(undoLine);
  if (last?.failure !== undefined) throw last.failure;
}

/** The definition with its sandbox. A server without one is tried in a sandbox that lists nothing. */
function boxedDefinition({ server, admission }: AdmittedServer): Boxed {
  const { definition, name } = server;
  if (definition?.resolved?.kind !== "stdio" || admission.status !== "admitted")
    throw new HostError("usage", `"${name}" cannot be tried in a sandbox: it starts no program here`, {
      serverName: name,
      next: `fairlead mcp test ${toShellWord(name)}`,
    });
  const nothing = { read: [], write: [], hosts: [], tcp: [], env: [], isNamed: true, origin: undefined };
  return { ...definition, sandbox: definition.sandbox ?? nothing };
}

async function tryServer(
  definition: Boxed,
  found: AdmittedServer,
  configuration: Configuration,
  options: LearnOptions,
  context: Context,
): Promise<Try> {
  const { name } = definition;
  const began = new Date().toISOString();
  const tried: AdmittedServer = { ...found, server: { ...found.server, definition } };
  const servers = configuration.servers.map((other) => (other.server.name === name ? tried : other));
  const texts: string[] = [];
  const calls: Call[] = [];
  let failure: HostError | undefined;
  if (options.watch === true) await untilInterrupted(context);
  else
    await useHost({ ...configuration, servers }, context, async (host) => {
      await connectServers(host, [name], context);
      const state = host.states().find((other) => other.name === name);
      if (state?.status !== "connected") failure = state && notConnectedError(state);
      else
        for (const call of await callsFor(host, name, options))
          calls.push({ tool: call.tool, outcome: await tryCall(call, name, host, texts, context) });
    });
  if (failure !== undefined) texts.push(failure.message, failure.evidence ?? "");
  const log = await linesSince(logPath(configuration.locations.state, name), began);
  return { calls, failure, learned: await readRefusals(definition, texts, log, configuration) };
}

interface WantedCall {
  readonly tool: string;
  readonly args: unknown;
  readonly isReadOnly: boolean;
}

/** The calls of a recording, or of each tool that only reads, as its server says, and needs no arguments. */
async function callsFor(host: OpenedHost, name: string, { recording }: LearnOptions): Promise<readonly WantedCall[]> {
  const tools = host.catalog(name)?.tools ?? [];
  const isReadOnly = (tool: string): boolean =>
    tools.find((other) => other.name === tool)?.annotations?.["readOnlyHint"] === true;
  if (recording !== undefined)
    return (await readRecording(recording)).messages
      .flatMap(({ from, message }) => {
        const params = message["params"];
        if (from !== "client" || message["method"] !== "tools/call" || !isObject(params)) return [];
        const { name: tool, arguments: args = {} } = params;
        return typeof tool === "string" ? [{ tool, args, isReadOnly: isReadOnly(tool) }] : [];
      })
      .slice(0, mostCalls);
  return tools
    .filter((tool) => {
      const required = isObject(tool.inputSchema) ? tool.inputSchema["required"] : undefined;
      return isReadOnly(tool.name) && (!Array.isArray(required) || required.length === 0);
    })
    .map((tool) => ({ tool: tool.name, args: {}, isReadOnly: true }))
    .slice(0, mostCalls);
}

async function tryCall(
  { tool, args, isReadOnly }: WantedCall,
  name: string,
  host: OpenedHost,
  texts: string[],
  { io, globals }: Context,
): Promise<Call["outcome"]> {
  if (!isReadOnly) {
    const question = safe`The recording calls ${toVisibleLine(tool)}, which may change something. Call it?`;
    if (globals.json || !canAsk(io) || !(await confirm(io, question))) return "not allowed";
  }
  try {
    const result = await host.call(name, tool, args, { signal: io.signal });
    if (result.isError !== true) return "worked";
    for (const part of result.content) if ("text" in part && typeof part.text === "string") texts.push(part.text);
    return "failed";
  } catch (error) {
    if (!(error instanceof HostError) || error.code === "cancelled") throw error;
    texts.push(error.message, error.evidence ?? "");
    return error.code === "denied" ? "not allowed" : "failed";
  }
}

/** Resolves when the user presses Ctrl-C. */
async function untilInterrupted({ io, out }: Context): Promise<void> {
  out.say(safe`Use the server in another program now. Ctrl-C ends the watch.`);
  await new Promise<void>((resolve) => {
    if (io.takeInterrupts === undefined) return resolve();
    const undo = io.takeInterrupts(() => {
      undo();
      resolve();
    });
  });
}

/** Lines of the log without their times. */
async function linesSince(path: string, began: string): Promise<readonly string[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.split("\n").flatMap((line) => (line >= began ? line.replace(/^\S+ /, "") : []));
}

async function readRefusals(
  definition: Boxed,
  texts: readonly string[],
  log: readonly string[],
  configuration: Configuration,
): Promise<Learned> {
  const { environment, locations } = configuration;
  const [{ target, file }, boxContext] = await plannedProgram(definition, configuration);
  const contents = await boxContents(definition, { target, file }, boxContext).catch(() => undefined);
  const paths = contents?.paths ?? [];
  return learnFrom({
    texts: [...texts, ...log.filter((line) => line.startsWith("stderr ")).map((line) => line.slice("stderr ".length))],
    refusedHosts: log.flatMap((line) => {
      const [, host, reason] = /^note sandbox: (\S+) refused: (.*)$/.exec(line) ?? [];
      return host === undefined || reason === undefined ? [] : [{ host, reason }];
    }),
    scripts: target.args.filter((word) => /\.(?:[cm]?js|ts|py)$/.test(word)).map((word) => resolve(target.cwd, word)),
    readable: [...(contents?.shown ?? []), ...paths.map(({ path }) => path)],
    writable: paths.filter(({ isWritable }) => isWritable).map(({ path }) => path),
    hosts: contents?.allowed ?? [],
    home: environment.home,
    closed: [locations.state, ...settingsFolders(locations)],
  });
}

/** The profile of the settings with what it lacks. */
function extended({ sandbox }: Boxed, { read, write, hosts }: Learned, { environment }: Configuration): Profile {
  const short = (path: string): string =>
    path.startsWith(`${environment.home}/`) ? `~${path.slice(environment.home.length)}` : path;
  const writable = [...new Set([...sandbox.write, ...write])];
  return {
    read: [...new Set([...sandbox.read, ...read])].filter((path) => !write.includes(path)).map(short),
    write: writable.map(short),
    hosts: [...new Set([...sandbox.hosts.map((host) => host.replace(/:443$/, "")), ...hosts])],
    tcp: sandbox.tcp,
    env: sandbox.env,
  };
}

/** Writes the profile where the entry is. A workspace's entry is approved with it: the user has just seen it. */
async function write(
  found: AdmittedServer,
  profile: Profile,
  before: Undo | undefined,
  configuration: Configuration,
  context: Context,
): Promise<Undo> {
  const { name, scope } = found.server;
  const destination = destinationOf(scope === "user" ? "user" : "project", configuration.locations);
  const approved = await isApproved(name, configuration);
  const parts = Object.entries(profile).filter(([, values]) => values.length > 0);
  const value = parts.length === 0 ? "on" : Object.fromEntries(parts);
  const replaced = await setServerSandbox(destination.file, name, value, destination.edit);
  await approveWritten([name], destination, context);
  const sandbox = { before: replaced.sandbox };
  const origin = found.server.definition?.extras.origin;
  return before ?? restore({ name, entry: replaced.entry, approved, sandbox, origin }, destination, context);
}

function print({ calls, failure, learned }: Try, { out }: Context): void {
  for (const { tool, outcome } of calls) out.show(safe`  ${toVisibleLine(tool)}  ${toSafeLine(outcome)}`);
  if (failure !== undefined) out.show(safe`  does not start: ${toSafeLine(failure.message)}`);
  for (const { what, why } of learned.withheld)
    out.warn(safe`note: it wants ${toVisibleLine(what)}, which is not proposed: ${toSafeLine(why)}`);
}

function printChange({ server }: AdmittedServer, learned: Learned, profile: Profile, { out }: Context): void {
  const before = server.definition && sandboxLine(server.definition);
  out.show(safe`${out.style.bold(toVisibleLine(server.name))}  ${toSafeLine(before ?? "")}`);
  const lines: SafeText[] = (["read", "write", "hosts"] as const).flatMap((key) =>
    learned[key].map((value) => safe`  + ${toSafeLine(key)} ${toVisibleLine(value)}`),
  );
  for (const line of lines) out.show(out.style.green(line));
  const parts = Object.fromEntries(Object.entries(profile).filter(([, values]) => values.length > 0));
  out.show(safe`  "sandbox": ${toVisibleLine(Object.keys(parts).length === 0 ? '"on"' : JSON.stringify(parts))}`);
}
