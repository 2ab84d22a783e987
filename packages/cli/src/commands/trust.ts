/** `fairlead trust list`, `add` and `remove`: trusted folders, and the approvals of their servers. */

import { realpath, stat } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { approvalFields, layout, positionText, problemLines } from "@fairlead/console/server/words/server-details";
import { type ProposedPath, whyNoSandbox } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import { toShellWord } from "@fairlead/core/plain-text";
import { loadPolicies, type PolicyRule, readToolApprovals, type ToolApproval } from "@fairlead/core/policy";
import { type ConfiguredServer, locate, type ServerDefinition, setServerSandbox } from "@fairlead/core/settings";
import { joinSafe, type SafeText, safe, toSafeJson, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import {
  type Approvals,
  approve,
  type Configuration,
  howToTrust,
  isApprovedBy,
  programPlace,
  readApprovals,
  readTrustedFolders,
  removeFolderTrust,
  revoke,
  setFolderTrust,
  type TrustDecision,
  TrustLevel,
  type TrustRule,
  whyUnapproved,
} from "@fairlead/core/trust";
import { Option } from "commander";
import { count, type Output, table } from "../output/output.ts";
import { originText, subjectText } from "../output/policy/rule-lines.ts";
import { timeText } from "../output/time-text.ts";
import {
  concernsFile,
  configurationIfTrusted,
  configurationOf,
  configurationOptions,
  lastingConfiguration,
} from "../shell/configuration.ts";
import { canAsk, choose as chooseLetter, confirm } from "../shell/prompt.ts";
import type { Context, Verb } from "../shell/verb.ts";
import { askForPaths, proposedFor, type SandboxProfile } from "./mcp/add/sandbox-offer.ts";

const list: Verb = {
  help: `
The rule with the longest matching path decides. In the terminal of an IDE that has Gemini CLI's companion extension,
the IDE decides, and the rules decide if it says nothing. Fairlead reads a trusted folder's settings; each server needs
its own approval.

Examples:
  fairlead trust list
  fairlead trust list --json`,

  define: (command) => command.option("--utc", "show times in UTC; --json always prints UTC"),

  async run(context) {
    const { out, globals, command } = context;
    const { utc: isUtc = false } = command.opts<{ readonly utc?: boolean }>();
    const { locations, trust } = await configurationOf(context);
    const { ide: _, ...withoutIde } = context;
    const otherwise = trust.source === "ide" ? (await lastingConfiguration(withoutIde)).trust : undefined;
    const { rules, problems } = await readTrustedFolders(locations.trustedFolders);
    const approvals = await readApprovals(locations.state);
    if (globals.json) {
      const { trusted, source, detail } = trust;
      return out.json({
        root: locations.root,
        trusted,
        source,
        detail,
        withoutIde: otherwise && { trusted: otherwise.trusted, source: otherwise.source, detail: otherwise.detail },
        folders: rules.map(({ path, level }) => ({ path, level })),
        approvals: [...approvals].map(([root, servers]) => ({
          root,
          servers: [...servers].map(([name, approval]) => ({ name, ...approval })),
        })),
        problems,
      });
    }
    for (const problem of problems) if (!concernsFile(problem)) out.warn(problemLines(problem));
    out.show(safe`here: ${toSafeLine(locations.root)} is ${decisionText(trust)}`);
    if (otherwise) out.show(safe`without the IDE: ${decisionText(otherwise)}`);
    out.show(
      safe`\nfolders (${toSafeLine(locations.trustedFolders)}):\n${rules.length === 0 ? safe`  none` : folderLines(rules)}`,
    );
    out.show(safe`\napproved servers:\n${approvals.size === 0 ? safe`  none` : approvalLines(approvals, isUtc)}`);
  },
};

function decisionText({ trusted, detail }: TrustDecision): SafeText {
  return safe`${trusted ? safe`trusted` : safe`not trusted`} (${toSafeLine(detail)})`;
}

function folderLines(rules: readonly TrustRule[]): SafeText {
  return table(
    rules.map(({ path, level, effective }) => [
      safe`  ${words[level]}`,
      toSafeLine(path),
      effective === undefined ? safe`(no effect: the folder does not exist, or is a link)` : safe``,
    ]),
  );
}

const words: Readonly<Record<TrustRule["level"], SafeText>> = {
  TRUST_FOLDER: safe`trusted`,
  TRUST_PARENT: safe`parent trusted`,
  DO_NOT_TRUST: safe`not trusted`,
};

function approvalLines(approvals: Approvals, isUtc: boolean): SafeText {
  return joinSafe(
    [...approvals].map(([root, servers]) => {
      const rows = [...servers].map(([name, { approvedAt, fingerprint }]) => [
        safe`    ${toSafeLine(name)}`,
        safe`approved ${toSafeLine(timeText(approvedAt, isUtc))}`,
        toSafeLine(fingerprint.slice(0, 12)),
      ]);
      return safe`  ${toSafeLine(root)}\n${table(rows)}`;
    }),
  );
}

// `fairlead trust remove`: removes a folder's trust rule and the approvals of its servers.

const remove: Verb = {
  help: `
Removes the folder's own rule and all approvals of its servers. A rule for a parent folder still applies.

Examples:
  fairlead trust remove
  fairlead trust remove ~/projects/shop`,

  define: (command) => command.argument("[dir]", "the folder whose rule to remove; default: the workspace root"),

  async run(context) {
    const { out, globals } = context;
    const folder = await folderOf(context);
    const { trustedFolders, state } = await locate(configurationOptions(context));
    const removed = await removeFolderTrust(trustedFolders, folder);
    const revoked = await revoke(state, folder);
    if (!removed && revoked.length === 0)
      throw new HostError("usage", `"${folder}" has no trust rule and no approved servers`, {
        next: "fairlead trust list",
      });
    const still = await trustAbove(context, folder);
    if (globals.json) return out.json({ folder, removed, revoked, trusted: still !== undefined });
    if (removed) out.show(safe`removed the trust rule of ${toSafeLine(folder)}`);
    if (revoked.length > 0) out.show(safe`no longer approved: ${joinSafe(revoked.map(toSafeLine), safe`, `)}`);
    if (still !== undefined) out.warn(safe`warning: the folder is still trusted: ${toSafeLine(still)}`);
  },
};

/**
 * Returns the parent rule or the setting that still trusts the folder. Returns undefined if there is none or the folder
 * does not exist.
 */
async function trustAbove(context: Context, folder: string): Promise<string | undefined> {
  const isThere = (await stat(folder).catch(() => undefined))?.isDirectory() ?? false;
  if (!isThere) return undefined;
  const { trust } = await lastingConfiguration({ ...context, globals: { ...context.globals, root: folder } });
  return trust.trusted ? trust.detail : undefined;
}

/**
 * Returns the folder's real path. If the folder does not exist, returns the path as written, so that its rule can be
 * removed.
 */
async function folderOf(context: Context): Promise<string> {
  const [folder] = context.operands;
  if (folder === undefined) return (await locate(configurationOptions(context))).root;
  const path = resolve(context.io.cwd, folder);
  return realpath(path).catch(() => path);
}

// `fairlead trust add`: shows a workspace's servers in full, then asks to trust the folder and approve them.

const add: Verb = {
  help: `
Shows every server in the folder's settings exactly as it would run, then asks: first about the folder, then about each
server. Enter means no. An approval is valid for the exact entry and program: if either changes, Fairlead asks again.
If an entry does not say whether its program runs in a sandbox, you can choose one: Fairlead writes it into the
settings of the workspace. A second run asks only about new or changed servers. Without a terminal, nothing is written unless you add --yes.

Examples:
  fairlead trust add
  fairlead trust add ~/projects/shop
  fairlead trust add --yes          in a script, after you read the output without --yes
  fairlead trust add --yes --sandbox on`,

  define(command) {
    command
      .argument("[dir]", "the folder to trust; default: the workspace root")
      .option("-y, --yes", "trust the folder and approve all of its servers, without asking")
      .option("--parent", "trust the parent folder and every folder in it")
      .addOption(
        new Option(
          "--sandbox <on|off>",
          "on: write a sandbox for each program whose entry says nothing; off: offer none",
        ).choices(["on", "off"]),
      );
  },

  async run(given) {
    const context = inFolder(given);
    const { io, out, globals, command } = context;
    const { yes = false, parent = false, sandbox } = command.opts<AddOptions>();
    const found = await review(context);
    const { root, pending, trustedFolders } = found;
    const needsTrust = found.needsTrust || parent;
    // The user must see the servers before the question, even with --quiet. With --yes there is no question.
    if (!yes || !globals.quiet) out.exactly(reviewText(found));
    if ((needsTrust || pending.length > 0) && !yes && !canAsk(io)) refuse(found);

    if (needsTrust && !yes && !(await confirm(io, trustQuestion(root, parent))))
      throw new HostError("denied", `"${root}" is not trusted: you answered no; nothing was changed`);
    const asked = yes ? pending.map((server) => ({ server })) : await choose(found, sandbox === undefined, context);
    const answered = asked.map((answer) => withDefault(answer, sandbox));
    if (needsTrust)
      await setFolderTrust(trustedFolders, root, parent ? TrustLevel.TRUST_PARENT : TrustLevel.TRUST_FOLDER);
    const chosen = answered.map(({ server }) => server);
    await approveAnswered(answered, found, context);

    const { trust, locations } = await lastingConfiguration(context);
    const approved = chosen.map(({ name }) => name);
    const waiting = pending.filter((server) => !chosen.includes(server)).map(({ name }) => name);
    if (globals.json) return out.json({ root, trusted: trust.trusted, approved, waiting });
    if (needsTrust) out.show(safe`trusted: ${toSafeLine(parent ? dirname(root) : root)}`);
    if (approved.length > 0) out.show(safe`approved: ${joinSafe(approved.map(toVisibleLine), safe`, `)}`);
    if (waiting.length > 0) out.show(safe`not approved: ${joinSafe(waiting.map(toVisibleLine), safe`, `)}`);
    // For example, the IDE in whose terminal the command runs does not trust the folder.
    if (!trust.trusted)
      out.warn(
        safe`warning: the folder is still not trusted: ${toSafeLine(trust.detail)}\n  next: ${toSafeLine(howToTrust(trust, locations))}`,
      );
    if (needsTrust || approved.length > 0) sayUndo(found, out);
  },
};

interface AddOptions {
  readonly yes?: boolean;
  readonly parent?: boolean;
  readonly sandbox?: "on" | "off";
}

function trustQuestion(root: string, parent: boolean): SafeText {
  return parent
    ? safe`Trust ${toVisibleLine(dirname(root))} and every folder in it?`
    : safe`Trust ${toVisibleLine(root)}?`;
}

/**
 * Prints how to undo `trust add`. If the folder already had a rule or approvals, prints that no command restores them.
 */
function sayUndo({ root, rule, remembered, trustedFolders }: Review, out: Output): void {
  const remove = `fairlead trust remove ${toShellWord(root)}`;
  const before = rule === undefined ? "" : `; the previous rule was ${rule} (${trustedFolders})`;
  if (rule === undefined && !remembered) out.undo(remove);
  else
    out.say(
      safe`previous state cannot be restored: ${toSafeLine(remove)} deletes the rule and all approvals${toSafeLine(before)}`,
    );
}

/** A server that the user approves. `profile`: in this sandbox, which its entry does not have yet. */
export interface Answered {
  readonly server: Pending;
  readonly profile?: SandboxProfile;
}

/** Asks one question for each server, in the order in which the servers were shown. Offers a sandbox to programs. */
async function choose(
  { pending, root, noSandbox }: Review,
  isOffered: boolean,
  { io, out }: Pick<Context, "io" | "out">,
): Promise<readonly Answered[]> {
  const chosen: Answered[] = [];
  for (const one of pending) {
    const name = toVisibleLine(one.name);
    const paths = isOffered ? one.paths : undefined;
    if (paths !== undefined && noSandbox !== undefined)
      out.warn(
        safe`${name} cannot run in a sandbox: ${toSafeLine(noSandbox.why)}\n  next: ${toSafeLine(noSandbox.fix)}`,
      );
    if (paths === undefined || noSandbox !== undefined) {
      if (await confirm(io, safe`Approve ${name}, exactly as shown?`)) chosen.push({ server: one });
      continue;
    }
    const file = toVisibleLine(relative(root, one.server.origin.file));
    const question = safe`Approve ${name}? s: in a sandbox, which is written into ${file}; y: exactly as shown, with all your rights; n: no`;
    const letter = await chooseLetter(io, question, ["n", "s", "y"]);
    if (letter === "y") chosen.push({ server: one });
    if (letter === "s") chosen.push({ server: one, profile: await askForPaths(paths, { io }) });
  }
  return chosen;
}

/** With `--sandbox on`, each program whose entry says nothing runs in a sandbox. */
function withDefault(answer: Answered, sandbox: string | undefined): Answered {
  return sandbox === "on" && answer.server.paths !== undefined ? { ...answer, profile: "on" } : answer;
}

/**
 * Writes the chosen sandboxes into the workspace's settings, and approves the servers. An entry that has changed meanwhile
 * is not approved: the user has not seen it.
 */
export async function approveAnswered(
  answered: readonly Answered[],
  { root, state }: Review,
  context: Context,
): Promise<void> {
  const asShown = answered.flatMap(({ server, profile }) => (profile === undefined ? [server.definition] : []));
  const boxed = answered.filter(({ profile }) => profile !== undefined);
  for (const { server, profile } of boxed) {
    const { file } = server.server.origin;
    await setServerSandbox(file, server.name, profile, { within: root });
    if (!context.globals.json)
      context.out.show(
        safe`written: fairlead.servers.${toVisibleLine(server.name)}.sandbox = ${toSafeJson(profile, 0)} in ${toVisibleLine(file)}`,
      );
  }
  const { servers } = boxed.length === 0 ? { servers: [] } : await configurationIfTrusted(context);
  const written = boxed.map(({ server }) => {
    const now = servers.find((one) => one.server.name === server.name)?.server.definition;
    if (now?.sandbox !== undefined && isDeepStrictEqual(withoutSandbox(now), withoutSandbox(server.definition)))
      return now;
    throw new HostError("awaiting_approval", `"${server.name}" has changed while you read it; it is not approved`, {
      serverName: server.name,
      next: "fairlead trust add",
    });
  });
  if (answered.length > 0) await approve(state, root, [...asShown, ...written]);
}

function withoutSandbox(definition: ServerDefinition): object {
  return { ...definition, sandbox: undefined, fingerprint: undefined, origin: undefined };
}

function refuse({ root, pending }: Review): never {
  const command = `fairlead trust add ${toShellWord(root)}`;
  throw new HostError(
    "awaiting_approval",
    `"${root}" needs your confirmation (servers to approve: ${pending.length}), and there is no terminal to ask on; nothing was written`,
    { next: `in a terminal: ${command}; without a terminal, read the servers above, then run: ${command} --yes` },
  );
}

/** Returns a context in which the folder argument is the workspace, as if the user had given it with `-C`. */
function inFolder(context: Context): Context {
  const [folder] = context.operands;
  return folder === undefined ? context : { ...context, globals: { ...context.globals, root: folder } };
}

// Shows what a person must check before trusting a folder: all its servers in full, with hidden characters made
// visible.

/** What the user must check before trusting the folder `root`. */
export interface Review {
  readonly root: string;
  readonly isHome: boolean;
  readonly trustedFolders: string;
  readonly state: string;
  /** Why no server can run in a sandbox here. Absent if one can, or if no server to approve would. */
  readonly noSandbox?: Awaited<ReturnType<typeof whyNoSandbox>>;
  /** Whether the folder is not trusted yet: no rule and no setting trusts it. */
  readonly needsTrust: boolean;
  /** The level of the folder's own trust rule, if there is one. */
  readonly rule?: TrustLevel;
  /** Whether the user has approved servers of this folder before. */
  readonly remembered: boolean;
  /** Servers to approve: new, or changed since they were approved. */
  readonly pending: readonly Pending[];
  readonly approved: readonly string[];
  /** Invalid entries, which cannot be approved. */
  readonly broken: readonly ConfiguredServer[];
}

/** A server of the folder that needs the user's approval. */
export interface Pending {
  readonly name: string;
  readonly server: ConfiguredServer;
  readonly definition: ServerDefinition;
  /** The files and folders that its entry names. Absent if the entry says whether it runs in a sandbox, or it cannot. */
  readonly paths?: readonly ProposedPath[] | undefined;
  /** How the entry differs from the approved entry. Absent if the user never approved the server. */
  readonly changed?: string;
  /** Tools that would run without confirmation, each with the rule or approval that allows it. */
  readonly allowed: readonly SafeText[];
}

/** Reads the folder's settings, trust rule and approvals. Starts no server. */
export async function review(context: Context): Promise<Review> {
  // What the IDE reports ends with the IDE, so the user must still be able to trust the folder.
  const { ide: _, ...withoutIde } = context;
  const { trust } = await lastingConfiguration(withoutIde);
  const configuration = await configurationIfTrusted(context);
  const { locations, servers } = configuration;
  const allowedFor = await alreadyAllowed(configuration);
  const { root, state, trustedFolders } = locations;
  const approvals = (await readApprovals(state)).get(root);
  const rule = (await readTrustedFolders(trustedFolders)).rules.find(({ path }) => path === root);
  const ofWorkspace = servers.map(({ server }) => server).filter(({ scope }) => scope === "workspace");
  const defined = ofWorkspace.flatMap((server) =>
    server.definition === undefined ? [] : [{ server, definition: server.definition }],
  );
  const isApproved = ({ definition }: { readonly definition: ServerDefinition }): boolean =>
    isApprovedBy(approvals?.get(definition.name), definition);
  const pending = await Promise.all(
    defined
      .filter((one) => !isApproved(one))
      .map(async ({ server, definition }) => {
        const { name } = definition;
        const approval = approvals?.get(name);
        const why = approval === undefined ? {} : { changed: whyUnapproved(approval, definition) };
        const paths = await proposedFor(server, configuration);
        return { name, server, definition, paths, ...why, allowed: allowedFor(definition) };
      }),
  );
  return {
    root,
    isHome: root === (await realpath(context.io.home).catch(() => context.io.home)),
    trustedFolders,
    state,
    ...(pending.some(({ paths }) => paths !== undefined) && {
      noSandbox: await whyNoSandbox(programPlace(configuration)),
    }),
    needsTrust: !trust.trusted,
    rule: rule?.level,
    remembered: (approvals?.size ?? 0) > 0,
    pending,
    approved: defined.filter(isApproved).map(({ definition }) => definition.name),
    broken: ofWorkspace.filter(({ definition }) => definition === undefined),
  };
}

/** Returns the review as text for the terminal. */
function reviewText(found: Review): SafeText {
  const { root, isHome, needsTrust, pending, approved, broken } = found;
  const parts = [safe`folder: ${toVisibleLine(root)} (${needsTrust ? safe`not trusted yet` : safe`trusted`})`];
  if (isHome) parts.push(safe`  This is your home folder: trusting it trusts every folder in it.`);
  if (needsTrust)
    parts.push(
      safe`  If you trust the folder, Fairlead reads its .gemini/settings.json and .env files. Each server still needs an approval to start.`,
    );
  if (approved.length > 0) parts.push(safe`already approved: ${joinSafe(approved.map(toVisibleLine), safe`, `)}`);
  parts.push(pending.length === 0 ? safe`no servers to approve` : safe`${count(pending.length, "server")} to approve:`);
  parts.push(...pending.map(pendingText), ...broken.map(brokenText));
  return joinSafe(parts);
}

function pendingText({ server, definition, changed, allowed }: Pending): SafeText {
  const name = toVisibleLine(definition.name);
  const heading = changed === undefined ? name : safe`${name} (${toVisibleLine(changed)})`;
  const fields = layout(approvalFields(definition, server), safe`    `);
  const unasked = allowed.map((one) => safe`    runs without confirmation: ${one}`);
  return joinSafe([safe`\n  ${heading}`, fields, ...unasked]);
}

function brokenText({ name, origin, problems }: ConfiguredServer): SafeText {
  const reasons = problems.filter(({ severity }) => severity === "error").map(({ message }) => toVisibleLine(message));
  return safe`\n  ${toVisibleLine(name)} cannot be approved (${positionText(origin, toVisibleLine)}): ${joinSafe(reasons, safe`; `)}`;
}

type AlreadyAllowed = (definition: ServerDefinition) => readonly SafeText[];

/** Finds the tools that already run without confirmation. Unreadable approvals allow nothing, so they are ignored. */
async function alreadyAllowed(configuration: Configuration): Promise<AlreadyAllowed> {
  const { root, state } = configuration.locations;
  const { rules } = await loadPolicies(configuration);
  const approvals = await readToolApprovals(state).catch((): readonly ToolApproval[] => []);
  return ({ name, fingerprint }) => [
    ...rules.filter((rule) => allows(rule, name)).map((rule) => safe`${subjectText(rule)}, by ${originText(rule)}`),
    ...approvals
      .filter((one) => one.server === name && one.workspace === root && one.fingerprint === fingerprint)
      .map(({ tool, client }) => {
        const whose = client === undefined ? safe`` : safe`, client ${toVisibleLine(client)}`;
        return safe`${toVisibleLine(`${name}.${tool}`)}${whose}, by your approval`;
      }),
  ];
}

/**
 * Whether the rule allows tools of the server. Ignores the rule for `"trust": true`: the review already shows that
 * entry.
 */
function allows({ decision, server, kind = "tool", origin }: PolicyRule, name: string): boolean {
  return decision === "allow" && kind === "tool" && origin.source !== "trust" && server?.matches(name) !== false;
}

export const verbs: Readonly<Record<"list" | "add" | "remove", Verb>> = { list, add, remove };
