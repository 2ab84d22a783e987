/** `fairlead connect` and `disconnect`: add Fairlead to the settings of other MCP clients, and undo that. */

import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { HostError } from "@fairlead/core/errors";
import { fromForeignEntry, ownEntryName } from "@fairlead/core/settings";
import { type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust";
import { Argument, Option } from "commander";
import { type ClientName, clientNames, clients, isClientName } from "../clients/client.ts";
import {
  entryFor,
  gatewayCommand,
  gatewayPort,
  isSameUrl,
  revokeClientTokens,
  withToken,
} from "../clients/client-entry.ts";
import { clientFile, isInstalled } from "../clients/client-places.ts";
import {
  type AllowedCalls,
  allowCalls,
  allowChoices,
  callWords,
  confirmationText,
  fittingCalls,
  geminiNote,
  ruleCommand,
  ruleQuestion,
} from "../clients/client-rule.ts";
import { changeServers, openClientText } from "../clients/client-text.ts";
import {
  type ConnectPlan,
  changedSince,
  type DisconnectPlan,
  planConnect,
  planDisconnect,
  readClientFile,
  writeConnect,
  writeDisconnect,
} from "../clients/connect-client.ts";
import {
  type ClientReport,
  clientDocument,
  differenceText,
  lineDifference,
  printedEntry,
} from "../clients/connect-report.ts";
import { isListening, serviceState, serviceUnit, unitText } from "../clients/http-service.ts";
import { installLink, isLinkClient, linkClients } from "../clients/install-link.ts";
import { listClients } from "../clients/list-clients.ts";
import { type MovePlan, moveServers, planMove } from "../clients/move-servers.ts";
import { type Receipt, ReceiptStore } from "../clients/receipts.ts";
import { count } from "../output/output.ts";
import { configurationOf } from "../shell/configuration.ts";
import { checkHttpOptions, toPort } from "../shell/http-server.ts";
import { canAsk, confirm } from "../shell/prompt.ts";
import { type Context, type Io, usageError, type Verb } from "../shell/verb.ts";

interface Options {
  readonly print?: boolean;
  readonly yes?: boolean;
  readonly http?: boolean;
  readonly port?: string;
  readonly replace?: boolean;
  readonly list?: boolean;
  readonly link?: boolean;
  readonly allow?: (typeof allowChoices)[number];
}

const connect: Verb = {
  help: `
Adds one server, "${ownEntryName}", to the settings of the named clients. This entry starts "fairlead serve",
which offers all your servers to the client and applies your rules. Shows the exact difference first and asks; the rest
of the file stays unchanged. "fairlead disconnect CLIENT" restores the file. Without names, offers every client
that is installed here.

  clients   ${clientNames.slice(0, 12).join(", ")},
            ${clientNames.slice(12).join(", ")}

With --http, the entry has a URL on this machine and a token of its own; "fairlead serve --http --port ${gatewayPort}" must run.
With --replace, the client's own servers move to your Fairlead settings, their secrets to the secret store. Servers that
cannot be moved stay. With --list, tests Fairlead's entry in each client: connects as the client would, and shows
whether Fairlead answers. Also lists the clients' tokens; "fairlead disconnect CLIENT" revokes them. With --link, prints
links with which VS Code and Cursor offer to add the entry themselves.

Some clients ask you before each call, others do not ask. connect says which, and offers the rule that fits: all tools
for a client that asks, tools that only read for one that does not. --allow writes the rule without a question.

Examples:
  fairlead connect
  fairlead connect claude-code
  fairlead connect codex cursor --yes
  fairlead connect vscode --replace
  fairlead connect goose --yes --allow read-only
  fairlead connect zed --print
  fairlead connect --link cursor
  fairlead connect --list`,

  define(command) {
    command
      .addArgument(new Argument("[client...]", "the clients to connect").choices(clientNames))
      .option("--print", "print the entry for each client and do not write it; with --http, makes a token for it")
      .option("--yes", "change the clients' settings without asking")
      .option("--http", "write a URL and a token into the entry, instead of a command")
      .option("--port <number>", `with --http: the port of fairlead serve; default: ${gatewayPort}`)
      .option("--replace", "move the client's own servers to Fairlead's settings")
      .addOption(
        new Option(
          "--allow <calls>",
          "write a rule that allows the client's calls of all tools, or of tools that only read, or write none",
        ).choices(allowChoices),
      )
      .option("--link", "print links that add Fairlead to VS Code and Cursor; writes nothing")
      .option("--list", "show which clients are connected, and test Fairlead's entry in each");
  },

  async run(context) {
    const { out, globals, command, operands } = context;
    const options = command.opts<Options>();
    checkHttpOptions(options, context);
    const configuration = await configurationOf(context);
    if (options.list) return listClients(operands.filter(isClientName), configuration, context);
    if (options.link) return printLinks(options, configuration, context);
    const names = operands.length > 0 ? operands.filter(isClientName) : await installed(configuration);
    if (names.length === 0)
      throw new HostError("not_found", "no MCP client found on this machine", {
        next: `name one: fairlead connect ${clientNames[0]}`,
      });
    const reports: ClientReport[] = [];
    for (const client of new Set(names)) reports.push(await connectOne(client, options, configuration, context));
    const errors = reports.flatMap(({ error }) => error ?? []);
    const service = options.http ? await tellService(options, configuration, context) : undefined;
    if (globals.json) out.json({ clients: reports.map(clientDocument), service, ...undoDocument(reports) });
    const [error] = errors;
    if (error === undefined) return;
    for (const { message, next } of globals.json ? [] : errors.slice(0, -1))
      out.warn(safe`${toVisibleLine(message)}${next === undefined ? safe`` : safe`\n  next: ${toSafeLine(next)}`}`);
    throw errors.at(-1) ?? error;
  },
};

async function installed({ environment }: Configuration): Promise<readonly ClientName[]> {
  const found = await Promise.all(clientNames.map((client) => isInstalled(client, environment)));
  return clientNames.filter((_client, at) => found[at]);
}

/**
 * Prints install links. Refuses `--http`, because programs and browsers keep the links that they open, so that a token in
 * a link would stay there.
 */
async function printLinks({ http }: Options, configuration: Configuration, context: Context): Promise<void> {
  const { out, globals, operands } = context;
  if (http) throw usageError("--link and --http cannot be combined: the link would contain a token", context);
  const other = operands.find((name) => !isLinkClient(name));
  if (other !== undefined)
    throw usageError(`${other} opens no install links: ${linkClients.join(" and ")} do`, context);
  const wanted = operands.length > 0 ? linkClients.filter((client) => operands.includes(client)) : linkClients;
  const links = await Promise.all(
    wanted.map(async (client) => {
      const { entry, warnings } = await entryFor(client, "", undefined, configuration, context);
      return { client, link: installLink(client, entry), warnings };
    }),
  );
  for (const warning of links[0]?.warnings ?? []) out.warn(safe`warning: ${toVisibleLine(warning)}`);
  if (globals.json) return out.json({ links: links.map(({ client, link }) => ({ client, link })) });
  for (const { link } of links) out.print(toSafeLine(link));
}

/** Says whether `fairlead serve --http` runs. Returns the same for `--json`. */
async function tellService(
  { port: word = gatewayPort }: Options,
  configuration: Configuration,
  context: Context,
): Promise<object> {
  const port = toPort(word, context);
  const listening = await isListening(port);
  const { home, platform } = configuration.environment;
  const command = await gatewayCommand(["--http", "--port", String(port)], configuration, context);
  const service = { ...command, home, platform };
  const unit = serviceUnit(service);
  const { out, globals } = context;
  if (!globals.json) {
    out.say(serviceState(port, listening));
    if (!listening && unit !== undefined && !globals.quiet) out.exactly(unitText(unit));
  }
  return { port, listening, unit };
}

function undoDocument(reports: readonly ClientReport[]): object {
  const undo = reports.flatMap(({ action, client }) => (action === "written" ? [`fairlead disconnect ${client}`] : []));
  return undo.length > 0 ? { undo } : {};
}

async function connectOne(
  client: ClientName,
  options: Options,
  configuration: Configuration,
  context: Context,
): Promise<ClientReport> {
  const file = await clientFile(client, configuration.environment);
  try {
    return await tryConnect(client, file, options, configuration, context);
  } catch (error) {
    if (!(error instanceof HostError) || error.code === "cancelled") throw error;
    return { client, file, action: "refused", warnings: [], error };
  }
}

async function tryConnect(
  client: ClientName,
  file: string,
  options: Options,
  configuration: Configuration,
  context: Context,
): Promise<ClientReport> {
  const { out, globals } = context;
  const { print = false, yes = false, replace = false, http = false, port = gatewayPort } = options;
  const url = http ? `http://127.0.0.1:${toPort(port, context)}/mcp` : undefined;
  const { entry, warnings } = await entryFor(client, file, url, configuration, context);
  const base = { client, file, entry, warnings };
  if (print) {
    // The user copies the printed entry, so it must already contain a valid token.
    const whole = url === undefined ? entry : await withToken(client, url, configuration.locations.state);
    const set = { name: ownEntryName, entry: whole };
    const report: ClientReport = { ...base, entry: whole, action: "printed" };
    const text = await changeServers(client, file, undefined, { remove: [], set });
    if (!globals.json) {
      out.print(printedEntry(report, text));
      if (url !== undefined) out.undo(`fairlead disconnect ${client}`);
    }
    return report;
  }
  const { state } = configuration.locations;
  const receipts = new ReceiptStore(state);
  const move = replace ? await planMove(client, file, configuration) : undefined;
  const request = { client, file, entry, move: move?.names ?? [] };
  const plan = await planConnect(request, receipts);
  const report: ClientReport = {
    ...base,
    action: "unchanged",
    difference: lineDifference(plan.text ?? "", plan.after),
    move,
    warnings: [...warnings, ...(await runningWarning(client, context))],
  };
  if (plan.earlier !== undefined && (plan.text === plan.after || isSameUrl(plan, request.move))) {
    if (!globals.json) out.say(safe`${toSafeLine(clients[client].title)} is already connected: ${toSafeLine(file)}`);
    // The first `connect` has said who asks. Now only a rule that the command line names is written.
    const rule = options.allow && (await settleRule(client, options, configuration, context));
    return { ...report, rule };
  }
  const words = `connect ${client}${http ? " --http" : ""}${replace ? " --replace" : ""}`;
  if (!(await mayWrite(report, words, yes, context))) {
    out.say(safe`nothing was written`);
    return { ...report, action: "declined" };
  }
  const final =
    url === undefined ? plan : await planConnect({ ...request, entry: await withToken(client, url, state) }, receipts);
  const action = await write(final, move, receipts, configuration, context);
  // A stdio entry needs no token, so Fairlead deletes the tokens of an earlier HTTP entry.
  if (url === undefined && plan.earlier !== undefined) await revokeClientTokens(client, state);
  const rule = await settleRule(client, options, configuration, context);
  if (!globals.json) out.undo(`fairlead disconnect ${client}`);
  return { ...report, action, rule };
}

/** Says who asks about the client's calls, and writes the rule that `--allow` or the user chooses. */
async function settleRule(
  client: ClientName,
  { allow, yes = false }: Options,
  configuration: Configuration,
  { io, out, globals }: Context,
): Promise<NonNullable<ClientReport["rule"]>> {
  const fitting = fittingCalls(client);
  const command = fitting && ruleCommand(client, fitting);
  if (allow === undefined && !globals.json) out.say(confirmationText(client));
  const chosen: AllowedCalls | "nothing" | undefined =
    allow ??
    (fitting !== undefined && !yes && canAsk(io) && (await confirm(io, ruleQuestion(client, fitting)))
      ? fitting
      : undefined);
  if (chosen === undefined || chosen === "nothing") return { command };
  const written = await allowCalls(client, chosen, configuration);
  if (!globals.json) {
    if (allow !== undefined) out.warn(safe`note: ${geminiNote}`);
    out.say(
      safe`${toSafeLine(clients[client].title)} may call ${callWords(chosen)} without Fairlead's question: ${toSafeLine(written)}`,
    );
    out.undo(ruleCommand(client, chosen, "remove"));
  }
  return { command, written };
}

/**
 * Shows the difference and the warnings, and asks whether to write. With `--yes` there is no question for which the user
 * must read the difference.
 * @param words The command that the user typed, without `fairlead` and `--yes`.
 * @throws HostError `usage` if there is no terminal to ask on
 */
async function mayWrite(
  report: ClientReport,
  words: string,
  yes: boolean,
  { io, out, globals }: Context,
): Promise<boolean> {
  if (yes ? !globals.json && !globals.quiet : !globals.json || canAsk(io)) out.exactly(differenceText(report));
  for (const warning of report.warnings) out.warn(safe`warning: ${toVisibleLine(warning)}`);
  if (yes) return true;
  if (canAsk(io)) return confirm(io, safe`Write this?`);
  const [verb = ""] = words.split(" ");
  const message = `${report.client} was not ${verb}ed: ${verb} asks first, and there is no terminal to ask on`;
  throw new HostError("usage", message, { next: `fairlead ${words} --yes` });
}

async function write(
  plan: ConnectPlan,
  move: MovePlan | undefined,
  receipts: ReceiptStore,
  configuration: Configuration,
  context: Context,
): Promise<"written"> {
  const { out, globals } = context;
  const { client, file } = plan;
  const stored = move === undefined ? [] : await moveServers(move, configuration, context);
  await writeConnect(plan, receipts);
  await verifyWritten(plan, context);
  if (globals.json) return "written";
  for (const { server, key, name } of stored)
    out.say(safe`stored ${toVisibleLine(key)} of ${toVisibleLine(server)} as the secret ${toSafeLine(name)}`);
  if (move && move.added.length > 0)
    out.say(safe`moved ${count(move.added.length, "server")} to ${toSafeLine(move.destination.file)}`);
  out.say(
    safe`connected: ${toSafeLine(clients[client].title)} (${toSafeLine(file)}); restart the program to load the change`,
  );
  return "written";
}

/** Clients that may overwrite Fairlead's change while they run. */
const rewrites: readonly ClientName[] = ["claude-code"];
/** After this many milliseconds, Fairlead checks whether the client has overwritten the file. */
const rewriteDelay = 1_000;

async function runningWarning(client: ClientName, { io }: Context): Promise<readonly string[]> {
  if (!rewrites.includes(client) || !(await isRunning(client, io))) return [];
  return [
    `${clients[client].title} is running and may overwrite this change: end the program first, or check with --list`,
  ];
}

async function verifyWritten({ client, file }: ConnectPlan, { io }: Context): Promise<void> {
  if (!rewrites.includes(client) || !(await isRunning(client, io))) return;
  await wait(rewriteDelay, undefined, { signal: io.signal }).catch(() => undefined);
  const { servers } = await openClientText(client, file, await readClientFile(file));
  if (fromForeignEntry(servers.get(ownEntryName)?.value) !== undefined) return;
  throw new HostError("busy", `${clients[client].title} has overwritten ${file}, so Fairlead's entry is missing`, {
    next: `End ${clients[client].title}, then: fairlead connect ${client}`,
  });
}

// Checks whether a client is running, because some clients rewrite their settings file while they run.

/** Time limit for `ps`, in milliseconds. */
const listTimeout = 2_000;

/** Whether the client is running. False if the list of processes cannot be read. */
async function isRunning(client: ClientName, { platform }: Pick<Io, "platform">): Promise<boolean> {
  const names = platform === "linux" ? await fromProc() : platform === "darwin" ? await fromPs() : [];
  const running = new Set(names.map((name) => basename(name.trim())));
  return clients[client].commands.some((command) => running.has(command));
}

async function fromProc(): Promise<readonly string[]> {
  const ids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  // A process may end before its name is read.
  return Promise.all(ids.map((id) => readFile(join("/proc", id, "comm"), "utf8").catch(() => "")));
}

/**
 * Reads the process names from `ps`. Starts `ps` by its absolute path, because a folder in `PATH` may belong to an
 * untrusted workspace.
 */
function fromPs(): Promise<readonly string[]> {
  return new Promise((resolve) => {
    execFile("/bin/ps", ["-A", "-o", "comm="], { timeout: listTimeout, env: {} }, (_error, stdout) =>
      resolve(stdout.split("\n")),
    );
  });
}

// `fairlead disconnect`: undoes `fairlead connect`.

const disconnect: Verb = {
  help: `
Restores the client's settings file, byte for byte, with the servers that connect --replace had moved out of it. These
servers also stay in Fairlead's settings. If the file has changed since connect, shows the difference and changes
nothing; --force then removes only Fairlead's entry. Revokes the client's tokens, also those of an entry that connect
--http --print printed.

Examples:
  fairlead disconnect claude-code
  fairlead disconnect codex --yes
  fairlead disconnect cursor --force`,

  define(command) {
    command
      .addArgument(new Argument("<client>", "the client to disconnect").choices(clientNames))
      .option("--yes", "change the client's settings without asking")
      .option("--force", "if the client's settings have changed since connect, remove only Fairlead's entry");
  },

  async run(context) {
    const { out, globals, command, operands } = context;
    const { yes = false, force = false } = command.opts<{ yes?: boolean; force?: boolean }>();
    const client = operands.find(isClientName) ?? "claude-code";
    const configuration = await configurationOf(context);
    const receipts = new ReceiptStore(configuration.locations.state);
    const file = await clientFile(client, configuration.environment);
    const receipt = await findReceipt(client, file, receipts);
    if (receipt === undefined) return revokeOnly(client, file, configuration, context);
    const plan = await planDisconnect(receipt, receipts);
    const report: ClientReport = {
      client,
      file: receipt.file,
      action: plan.kind === "changed" ? "removed" : "restored",
      difference: lineDifference(plan.text ?? "", restoredText(plan)),
      warnings: [],
    };
    const refusal = plan.kind === "changed" && !force ? changedSince(receipt) : undefined;
    if (refusal !== undefined && plan.kind === "changed") {
      const difference = lineDifference(plan.wrote ?? plan.after, plan.text);
      const refused: ClientReport = {
        ...report,
        action: "refused",
        difference,
        error: refusal,
      };
      if (globals.json) out.json({ ...clientDocument(refused) });
      else out.exactly(differenceText(refused));
      throw refusal;
    }
    if (!(await mayWrite(report, `disconnect ${client}${force ? " --force" : ""}`, yes, context)))
      return globals.json
        ? out.json(clientDocument({ ...report, action: "declined" }))
        : out.say(safe`nothing was written`);
    await writeDisconnect(receipt, plan, receipts);
    const revokedTokens = await revokeClientTokens(client, configuration.locations.state);
    if (globals.json) return out.json(clientDocument({ ...report, revokedTokens }));
    out.say(safe`disconnected: ${toSafeLine(clients[client].title)} (${toSafeLine(receipt.file)})`);
    if (revokedTokens > 0) out.say(revokedWords(client, revokedTokens));
    for (const name of receipt.moved)
      out.say(
        safe`${toVisibleLine(name)} also stays in Fairlead's settings; to remove it there: fairlead mcp remove -s user ${toVisibleLine(name)}`,
      );
  },
};

function restoredText(plan: DisconnectPlan): string {
  if (plan.kind === "gone") return plan.text ?? "";
  return (plan.kind === "restore" ? plan.before : plan.after) ?? "";
}

/**
 * Revokes the tokens of a client whose file Fairlead has not written, such as those of `connect --http --print`.
 *
 * @throws HostError `not_found` if the client has no token either
 */
async function revokeOnly(
  client: ClientName,
  file: string,
  { locations }: Configuration,
  { out, globals }: Context,
): Promise<void> {
  const revokedTokens = await revokeClientTokens(client, locations.state);
  if (revokedTokens === 0)
    throw new HostError(
      "not_found",
      `${clients[client].title} is not connected: Fairlead has written nothing to ${file}, and the client has no token`,
      { next: "fairlead connect --list" },
    );
  if (globals.json) return out.json(clientDocument({ client, file, action: "revoked", revokedTokens, warnings: [] }));
  out.say(revokedWords(client, revokedTokens));
  out.say(safe`Fairlead has written nothing to ${toSafeLine(file)}; an entry that you pasted there no longer works`);
}

function revokedWords(client: ClientName, tokens: number): SafeText {
  return safe`revoked ${count(tokens, "token")} of ${toSafeLine(clients[client].title)}`;
}

/**
 * Finds the receipt of `connect` for the client's file. If the client has only one receipt, the settings file may have
 * moved since.
 */
async function findReceipt(client: ClientName, file: string, receipts: ReceiptStore): Promise<Receipt | undefined> {
  const own = (await receipts.list()).filter((receipt) => receipt.client === client);
  return own.find((receipt) => receipt.file === file) ?? (own.length === 1 ? own[0] : undefined);
}

export const verbs: Readonly<Record<"connect" | "disconnect", Verb>> = { connect, disconnect };
