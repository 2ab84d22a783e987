/**
 * Adds servers to the settings, wherever they come from: offers a sandbox, writes the entries, asks for the folder's trust,
 * approves the entries, tests the connections, and prints what undoes it.
 */

import { HostError } from "@fairlead/core/errors";
import type { ServerState } from "@fairlead/core/events";
import type { OpenedHost } from "@fairlead/core/host";
import { toShellWord } from "@fairlead/core/plain-text";
import { notConnectedError } from "@fairlead/core/server";
import { type Locations, writeServer } from "@fairlead/core/settings";
import { type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { type AdmittedServer, type Configuration, setFolderTrust, TrustLevel } from "@fairlead/core/trust";
import { isObject, listOf, member } from "@fairlead/wire/json";
import { errorLines, type Output } from "../../../output/output.ts";
import { type ListedServer, stateWords } from "../../../output/servers/server-state.ts";
import { downloadOf } from "../../../pin/pin-server.ts";
import { configurationIfTrusted, configurationOf } from "../../../shell/configuration.ts";
import { canAsk, confirm } from "../../../shell/prompt.ts";
import { type Context, globalWords, type Io } from "../../../shell/verb.ts";
import { connectServers } from "../../../targets/connect-servers.ts";
import { useHost } from "../../../targets/with-host.ts";
import { acceptTried, type TriedDefinitions } from "../registry/try-version.ts";
import { type Added, document, printAdded, printApproval } from "./add-report.ts";
import {
  approveWritten,
  type Destination,
  destinationOf,
  isApproved,
  noApproval,
  placesOf,
  removeLine,
  restore,
  type ScopeWord,
  trustAddLine,
} from "./destination.ts";
import { type NewServer, refuseInvalidEntry } from "./new-entry.ts";
import { offerSandbox, proposedPaths, type SandboxChange, type SandboxProfile } from "./sandbox-offer.ts";

/** A server that the user wants to add. */
export interface ProposedServer extends NewServer {
  /** The sandbox of a server about which the user says nothing, in a script. Default: what the settings say already. */
  readonly sandbox?: SandboxProfile;
  /** The folder of its own files, such as that of a bundle. Every sandbox of it shows this folder. */
  readonly folder?: string;
  /** Further options to write into `fairlead.servers.NAME`. */
  readonly serverOptions?: Readonly<Record<string, unknown>>;
  /** The command that undoes it. Default: one that restores the entry. */
  readonly undo?: string;
  /** The protocol to try first when the connection is tested, before any other. Default: ask the server. */
  readonly era?: "legacy";
  /** What the server listed when it was tried, and how that differs from before. The user accepts it with the entry. */
  readonly tried?: TriedDefinitions | undefined;
}

/** What the user said on the command line. */
export interface AddChoices {
  readonly scope?: ScopeWord | undefined;
  /** Whether entries with the same names are replaced without a question. They keep their sandbox, if `sandbox` is absent. */
  readonly replace: boolean;
  readonly approve: boolean;
  readonly test: boolean;
  /** The value of `--sandbox`. Absent: it is offered on a terminal. */
  readonly sandbox?: SandboxChange | undefined;
}

/**
 * Adds the servers and prints a report, or a JSON document with `--json`.
 *
 * @throws HostError if nothing was added
 */
export async function addServers(
  servers: readonly ProposedServer[],
  { scope, replace, approve, test, sandbox }: AddChoices,
  context: Context,
): Promise<void> {
  const { io, out, globals } = context;
  const before = await configurationIfTrusted(context);
  const destination = choose(scope, before.locations, out);
  for (const server of servers) refuseInvalidEntry(server, destination.scope, sandbox);
  const taken = replace
    ? new Set(servers.map(({ name }) => name))
    : await askToReplace(servers, destination, before, io);
  const isOffered = sandbox === undefined && !replace && !globals.json && canAsk(io);
  const planned: Planned[] = [];
  for (const server of servers) {
    const paths = await proposedPaths(server, destination, before);
    if (paths === undefined && (sandbox === "on" || isObject(sandbox))) throw unboxable(server);
    const decided = server.entry["sandboxEnabled"] === true;
    const chosen =
      paths !== undefined && isOffered && !decided
        ? await offerSandbox(server.name, paths, before, context)
        : (sandbox ?? server.sandbox);
    planned.push({ ...server, paths: paths?.map(({ written }) => written) ?? [], chosen });
  }
  const added = await write(planned, taken, { destination, before, context });
  const names = servers.map(({ name }) => name);
  const after = await configurationIfTrusted(context);
  const now = await configurationOf(context);
  const isUser = destination.scope === "user";
  const { servers: readBack } = isUser ? now : after;
  const trustLine = trustAddLine(after.locations);
  if (!globals.json) for (const one of added) printAdded(one, destination, readBack, out);
  // With --no-approve the server cannot start in any case, so Fairlead does not ask about trusting the folder.
  const answer = isUser || !approve ? "not_asked" : await askToTrust(now, context);
  const trusted = answer === "yes" || now.trust.trusted;
  // By typing this command line, the user approves the server and the workspace files that the server runs.
  const approval = approve && answer !== "no" ? await approveWritten(names, destination, context) : noApproval;
  const report = { added, destination, servers: readBack, trustLine, approval, trusted };
  if (!globals.json) printApproval(report, out);
  const inFact = await configurationOf(context);
  const written = inFact.servers.filter(
    ({ server }) => names.includes(server.name) && server.origin.file === destination.file,
  );
  if (!globals.json) printDisabled(written, out);
  // Before the first real start, so that a server that lists something else then has changed definitions.
  for (const { name, tried } of servers) await acceptTried(name, tried, inFact);
  const era = servers.every((server) => server.era === "legacy") ? "legacy" : undefined;
  const tested = test ? await testAdded(written, inFact, era, context) : [];
  if (globals.json) return out.json(document(report, tested));
  for (const { state } of tested) printTested(state, out);
  await askNextSteps(tested, context);
}

function choose(scope: ScopeWord | undefined, locations: Locations, out: Output): Destination {
  if (scope !== undefined || locations.files.workspace !== undefined)
    return destinationOf(scope ?? "project", locations);
  out.say(safe`note: there is no project here, so Fairlead writes to your user settings`);
  return destinationOf("user", locations);
}

/** Returns the names of servers that are already in the settings file and that the user agreed to replace. */
async function askToReplace(
  servers: readonly NewServer[],
  { file }: Destination,
  configuration: Configuration,
  io: Io,
): Promise<ReadonlySet<string>> {
  const isTaken = ({ name }: NewServer): boolean =>
    placesOf(name, configuration).some((origin) => origin.file === file);
  const taken = servers.filter(isTaken).map(({ name }) => name);
  if (taken.length === 0) return new Set();
  const names = taken.map((name) => `"${name}"`).join(", ");
  if (!canAsk(io))
    throw new HostError("usage", `already in ${file}: ${names}; nothing was changed`, {
      next: "add --replace before the name, or choose another name",
    });
  if (await confirm(io, safe`Already in ${toVisibleLine(file)}: ${toVisibleLine(names)}. Replace?`))
    return new Set(taken);
  throw new HostError("denied", "nothing was changed");
}

function unboxable({ name, entry }: NewServer): HostError {
  const why = Object.hasOwn(entry, "command") ? "runs a container, which is a box of its own" : "has a URL";
  return new HostError("usage", `--sandbox works only with a program that Fairlead starts, and "${name}" ${why}`);
}

interface Planned extends ProposedServer {
  /** The files and folders that the entry names. */
  readonly paths: readonly string[];
  readonly chosen: SandboxChange | undefined;
}

/** Writes each server with its options, and returns what undoes it. */
async function write(
  servers: readonly Planned[],
  taken: ReadonlySet<string>,
  {
    destination,
    before,
    context,
  }: { readonly destination: Destination; readonly before: Configuration; readonly context: Context },
): Promise<readonly Added[]> {
  const { file, edit, word } = destination;
  const added: Added[] = [];
  for (const { name, entry, serverOptions, folder, chosen: wanted, paths, undo: own, tried } of servers) {
    const chosen = withFolder(wanted, folder);
    await putBackBundle(entry, before.locations.state);
    // A new entry does not come from where the replaced one did.
    const origin = taken.has(name) ? { origin: null } : {};
    const set = {
      ...origin,
      ...serverOptions,
      ...(chosen !== undefined && { sandbox: chosen === "default" ? null : chosen }),
    };
    const { replaced, options } = await writeServer(file, name, entry, {
      ...edit,
      replace: taken.has(name),
      serverOptions: set,
    });
    const change = chosen === undefined ? {} : { sandbox: { before: member(options, "sandbox") } };
    const undo =
      own !== undefined
        ? { undo: own }
        : replaced === undefined
          ? { undo: removeLine(name, word, context.globals) }
          : restore(
              {
                name,
                entry: replaced,
                approved: await isApproved(name, before),
                origin: member(options, "origin"),
                ...change,
              },
              destination,
              context,
            );
    added.push({ name, entry, replaced: replaced !== undefined, paths, definitions: tried?.differences, ...undo });
  }
  return added;
}

function withFolder(chosen: SandboxChange | undefined, folder: string | undefined): SandboxChange | undefined {
  if (folder === undefined || chosen === undefined || chosen === "off" || chosen === "default") return chosen;
  const profile = chosen === "on" ? {} : chosen;
  return { ...profile, read: [...new Set([folder, ...listOf(profile["read"])])] };
}

/** If the entry is that of a removed bundle, its files come back. */
async function putBackBundle(entry: unknown, state: string): Promise<void> {
  const { bundleFolderIn, putBack } = await import("@fairlead/registry/bundles/bundle");
  const folder = bundleFolderIn(entry, state);
  if (folder !== undefined) await putBack(folder, state);
}

/** Connects to each server that may start, and returns the resulting states. */
async function testAdded(
  servers: readonly AdmittedServer[],
  configuration: Configuration,
  era: ProposedServer["era"],
  context: Context,
): Promise<readonly ListedServer[]> {
  const admitted = servers.filter(({ admission }) => admission.status === "admitted").map(({ server }) => server);
  if (admitted.length === 0) return [];
  const names = admitted.map(({ name }) => name);
  const connect = async (host: OpenedHost): Promise<readonly ListedServer[]> => {
    await connectServers(host, names, context);
    const states = new Map(host.states().map((state) => [state.name, state]));
    return admitted.flatMap((server) => {
      const state = states.get(server.name);
      return state === undefined ? [] : [{ server, state }];
    });
  };
  return useHost(configuration, context, connect, era && { era });
}

function printDisabled(servers: readonly AdmittedServer[], out: Output): void {
  for (const { admission } of servers) {
    if (admission.status !== "disabled") continue;
    out.warn(safe`${toSafeLine(admission.message)}`);
    out.say(safe`  next: ${toSafeLine(admission.next)}`);
  }
}

function printTested(state: ServerState, out: Output): void {
  const name = toSafeLine(state.name);
  if (state.status === "connected") {
    out.show(safe`"${name}" is ${stateWords(state)}`);
    out.say(safe`next: fairlead tools ${toSafeLine(toShellWord(state.name))}`);
    return;
  }
  const { message, next } = notConnectedError(state);
  const hint = next === undefined ? safe`` : safe`\n  next: ${toSafeLine(next)}`;
  if (state.status === "needs_auth") {
    out.warn(safe`"${name}" was added and needs a sign-in${hint}`);
    return;
  }
  out.warn(safe`warning: "${name}" was added, but Fairlead cannot connect to it: ${toSafeLine(message)}${hint}`);
  out.say(safe`to test again: fairlead mcp test ${toSafeLine(toShellWord(state.name))}`);
}

// Offers, on a terminal, the steps that an added server still needs: the sign-in, and an exact version.

/** Asks about each step, and runs its command after a yes. If a step fails, the server stays added. */
async function askNextSteps(tested: readonly ListedServer[], context: Context): Promise<void> {
  const { io, globals } = context;
  if (globals.json || !canAsk(io)) return;
  for (const { server, state } of tested) {
    const { name, definition } = server;
    const shown = toVisibleLine(name);
    if (state.status === "needs_auth")
      await askAndRun(safe`Sign in to "${shown}" now?`, ["mcp", "auth", name], context);
    if (state.status === "connected" && definition !== undefined && downloadOf(definition)?.pinned === false)
      await askAndRun(
        safe`Write the exact version of "${shown}" into the settings now?`,
        ["mcp", "pin", name],
        context,
      );
  }
}

async function askAndRun(
  question: SafeText,
  words: readonly string[],
  { io, out, globals, runWords }: Context,
): Promise<void> {
  try {
    if (await confirm(io, question)) await runWords([...globalWords(globals), ...words], io, out);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    if (error.code === "cancelled") throw new HostError("cancelled", "cancelled: the server stays added");
    out.warn(errorLines(error));
  }
}

// Asks on a terminal whether to trust the folder that `mcp add` has just written to.

/**
 * Asks the user whether to trust the folder, and trusts it after a yes. Does not ask with `--json` or without a
 * terminal. Does not ask if a trust rule, an option or a variable already trusts or distrusts the folder.
 */
async function askToTrust(
  { trust, locations }: Configuration,
  { io, out, globals }: Context,
): Promise<"yes" | "no" | "not_asked"> {
  if (trust.trusted || trust.source !== "default" || globals.json || !canAsk(io)) return "not_asked";
  const { root, trustedFolders } = locations;
  out.warn(
    safe`A project's server starts only in a trusted folder. In a trusted folder, Fairlead reads .gemini/settings.json, .env files and policy files.`,
  );
  const isTrusted = await confirm(io, safe`Trust ${toVisibleLine(root)}?`).catch((error: unknown) => {
    throw error instanceof HostError && error.code === "cancelled"
      ? new HostError("cancelled", "cancelled: the server was added, the folder is not trusted", {
          next: trustAddLine(locations),
        })
      : error;
  });
  if (!isTrusted) return "no";
  await setFolderTrust(trustedFolders, root, TrustLevel.TRUST_FOLDER);
  out.print(safe`trusted: ${toVisibleLine(root)}`);
  return "yes";
}
