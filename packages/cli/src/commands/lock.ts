/** `fairlead lock`, `lock update` and `lock verify`: write the lock file, and compare the servers with it. */

import { exitCodeOf, HostError } from "@fairlead/core/errors";
import { updateText } from "@fairlead/core/files";
import { toShellWord } from "@fairlead/core/plain-text";
import {
  compareLock,
  type LockDrift,
  type LockedServer,
  type LockFile,
  lockText,
  parseLock,
  readLock,
  refuseNewer,
} from "@fairlead/core/policy";
import { type Difference, definitionDigest, differenceOf } from "@fairlead/core/server";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import {
  breakingDrift,
  checkLock,
  errorOf,
  type LockCheck,
  type LockWorkspace,
  openWorkspace,
  readSnapshots,
  type ServerSnapshot,
} from "../lock/workspace.ts";
import { count, errorDocument, errorLines } from "../output/output.ts";
import { differenceLines } from "../output/policy/rule-lines.ts";
import { type Context, nameHint, type Verb } from "../shell/verb.ts";

const verify: Verb = {
  help: `
Connects to every server in the workspace's settings and compares it with .gemini/mcp.lock. Exit codes: 0 nothing
differs; 6 something differs, or the folder is not trusted; 4 a server could not be reached, so it was not compared.
A removed tool, a new required parameter or a narrower type is breaking; changed descriptions, new tools and optional
parameters are not. With --breaking, only breaking changes count. Review the other changes all the same: models read the
descriptions. With --trust-workspace (for CI), a server whose entry differs from the lock file is not started.

Examples:
  fairlead lock verify
  fairlead lock verify --json
  fairlead lock verify --breaking
  fairlead lock verify --trust-workspace      in CI`,

  define: (command) => command.option("--breaking", "fail on breaking changes only"),

  async run(context) {
    const { out, globals, command } = context;
    const { breaking: onlyBreaking = false } = command.opts<{ readonly breaking?: boolean }>();
    const workspace = await openWorkspace(context);
    const { file, entries } = workspace;
    const lock = await readLock(file);
    if (lock === undefined && entries.size === 0) return tellNothingToVerify(workspace, context);
    if (lock === undefined) throw notThere(workspace);
    const checked = await checkLock(lock, workspace, context);
    const isWrong = (one: LockCheck): boolean =>
      onlyBreaking ? breakingDrift(one).length > 0 : one.drift !== undefined;
    const ok = !checked.some((one) => isWrong(one) || errorOf(one) !== undefined);
    if (globals.json) out.json({ file, ok, servers: checked.map(checkedDocument) });
    else if (checked.length > 0) out.show(joinSafe(checked.map((one) => out.typed(checkedText(one)))));
    failUnlessSame(checked, isWrong);
  },
};

/** The commands `fairlead lock` (`write`), `fairlead lock update` and `fairlead lock verify`. */
export const verbs: Readonly<Record<"write" | "update" | "verify", Verb>> = {
  write: {
    help: `
Connects to every server in the workspace's settings and writes .gemini/mcp.lock: the entries without their
secrets, the versions if known, and a digest of every tool, prompt and skill and of the
instructions. Commit this file. While it exists, Fairlead asks everyone who uses the workspace before it runs a tool that differs from the lock file.

Examples:
  fairlead lock
  fairlead lock verify               in CI: exit code 6 if anything differs
  fairlead lock update github        accept the changes of one server`,

    run: (context) => relock(undefined, context),
  },
  update: {
    help: `
Connects to the server, writes its current entry, version and tools into .gemini/mcp.lock, and shows the differences.
A server that is no longer in the settings is removed from the file.

Examples:
  fairlead lock update github
  fairlead lock update`,

    define: (command) =>
      command.argument("[server]", "server to update (see: fairlead mcp list); default: all servers of the workspace"),

    run: (context) => relock(context.operands[0], context),
  },
  verify,
};

/** Locks one server, or all servers if `name` is undefined. */
async function relock(name: string | undefined, context: Context): Promise<void> {
  const workspace = await openWorkspace(context);
  const { file, entries } = workspace;
  const before = name === undefined ? await readIfGood(file) : ((await readLock(file, name)) ?? new Map());
  if (name !== undefined) throwIfUnknown(name, workspace, before);
  if (before.size === 0 && entries.size === 0) return tellNothing(workspace, context);
  const names = name === undefined ? [...entries.keys()] : [name].filter((one) => entries.has(one));
  const looks = await readSnapshots(names, workspace, context);
  throwIfUnseen(looks, context);
  const now = names.flatMap((one) => lockedNow(one, workspace, looks));
  const state = await write(name, new Map(now), workspace);
  printRelock({ before, state, looks, only: name }, workspace, context);
}

/** Reads the existing lock file for comparison. An invalid file counts as empty, because this command replaces it. */
async function readIfGood(file: string): Promise<LockFile> {
  try {
    return (await readLock(file)) ?? new Map();
  } catch (error) {
    if (error instanceof HostError && error.code === "settings_invalid") return new Map();
    throw error;
  }
}

function lockedNow(
  name: string,
  { entries }: LockWorkspace,
  looks: ReadonlyMap<string, ServerSnapshot>,
): readonly (readonly [string, LockedServer])[] {
  const [entry, look] = [entries.get(name), looks.get(name)];
  return entry === undefined || look?.kind !== "seen" ? [] : [[name, { entry, ...look.locked }]];
}

/** Writes all servers, or only `name`. Reads the file again first, because another process may have changed it. */
function write(
  name: string | undefined,
  now: LockFile,
  { file, configuration }: LockWorkspace,
): Promise<"written" | "unchanged"> {
  const change = (text: string | undefined): string => {
    if (text !== undefined) refuseNewer(text, file);
    if (name === undefined) return lockText(now);
    const others = text === undefined ? [] : [...parseLock(text, file, name)].filter(([one]) => one !== name);
    return lockText(new Map([...others, ...now]));
  };
  return updateText(file, change, { within: configuration.locations.root });
}

function throwIfUnknown(name: string, { entries, file }: LockWorkspace, lock: LockFile): void {
  if (entries.has(name) || lock.has(name)) return;
  const hint = nameHint(name, [...entries.keys(), ...lock.keys()]);
  throw new HostError("server_unknown", `no server "${name}" in this workspace's settings, nor in ${file}${hint}`, {
    serverName: name,
    next: "fairlead mcp list",
  });
}

function tellNothing({ file, configuration }: LockWorkspace, { out, globals }: Context): void {
  if (globals.json) out.json({ file, state: "absent", servers: [] });
  else out.show(safe`Nothing to lock: no servers in ${toSafeLine(configuration.locations.files.workspace ?? "")}.`);
}

/** Throws if a server could not be reached: a lock file without that server would look complete. */
function throwIfUnseen(looks: ReadonlyMap<string, ServerSnapshot>, { out }: Context): void {
  const unseen = [...looks].flatMap(([name, look]) => (look.kind === "unseen" ? [{ name, error: look.error }] : []));
  const [first, ...others] = unseen;
  if (first === undefined) return;
  if (others.length === 0) throw first.error;
  for (const { error } of unseen) out.warn(errorLines(error));
  throw new HostError(
    first.error.code,
    `${unseen.length} of ${count(looks.size, "server")} could not be reached; nothing was written`,
    { next: "lock the reachable servers one by one: fairlead lock update SERVER" },
  );
}

/**
 * Throws if a server differs from the lock file or could not be reached. If both happen, the error code is `changed`.
 */
function failUnlessSame(checked: readonly LockCheck[], isWrong: (one: LockCheck) => boolean): void {
  const drifted = checked.filter(isWrong);
  const errors = checked.flatMap((one) => errorOf(one) ?? []);
  const unasked = `${errors.length} of ${count(checked.length, "server")} could not be checked`;
  const [only] = drifted;
  if (only !== undefined) {
    const message = `${drifted.length} of ${count(checked.length, "server")} ${drifted.length === 1 ? "differs" : "differ"} from the lock file`;
    throw new HostError("changed", errors.length === 0 ? message : `${message}, and ${unasked}`, {
      next: `to accept the change: fairlead lock update${drifted.length === 1 ? ` ${toShellWord(only.name)}` : ""}`,
    });
  }
  const worst = errors.map(({ code }) => code).toSorted((a, b) => exitCodeOf(b) - exitCodeOf(a))[0];
  if (worst === undefined) return;
  const next = errors.find(({ code }) => code === worst)?.next ?? "fairlead mcp list";
  throw new HostError(worst, unasked, { next });
}

function tellNothingToVerify({ file, configuration }: LockWorkspace, { out, globals }: Context): void {
  const settings = toSafeLine(configuration.locations.files.workspace ?? "");
  if (globals.json) out.json({ file, ok: true, servers: [] });
  else out.show(safe`Nothing to verify: no servers in ${settings}, and no lock file.`);
}

/** Returns the error for a missing lock file. Without an error, deleting the lock file would turn the check off. */
function notThere({ file, entries }: LockWorkspace): HostError {
  const message = `${file} does not exist: ${count(entries.size, "server")} of this workspace ${entries.size === 1 ? "is" : "are"} not locked`;
  return new HostError("changed", message, { next: "fairlead lock" });
}

// Formats the results of `lock`, `lock update` and `lock verify` as text and as JSON.

/**
 * The changed members of each tool, by tool name. Tools are left out if the catalog cache lacks their locked
 * definition.
 */
type ToolDifferences = ReadonlyMap<string, readonly Difference[]>;

/**
 * Compares the tools with their locked definitions. Reads the locked definitions from the catalog cache, because the
 * lock file has only digests.
 */
function toolDifferences(
  { server, tools }: LockDrift,
  lock: LockFile,
  look: ServerSnapshot | undefined,
): ToolDifferences {
  if (look?.kind !== "seen") return new Map();
  const { catalog, remembered } = look;
  const differences = tools.changed.flatMap((name) => {
    const digest = lock.get(server)?.tools.get(name);
    const before = remembered?.tools.find((tool) => tool.name === name && definitionDigest(tool) === digest);
    const after = catalog.tools.find((tool) => tool.name === name);
    return before && after ? [[name, differenceOf(before, after)] as const] : [];
  });
  return new Map(differences);
}

/** Returns the differences as text, indented so that it can follow the server's name. */
function driftText(drift: LockDrift, differences: ToolDifferences): SafeText {
  const { members, tools, prompts, skills } = drift;
  const digests = members.filter(({ member }) => member === "instructions");
  return joinSafe([
    ...differenceLines(
      members.filter((member) => !digests.includes(member)),
      safe`  `,
    ),
    ...digests.map(({ before, after }) => safe`  instructions ${change(before, after)}`),
    ...tools.added.map((name) => safe`  tool added: ${toVisibleLine(name)}`),
    ...tools.removed.map((name) => safe`  tool removed: ${toVisibleLine(name)}`),
    ...tools.changed.flatMap((name) => [
      safe`  tool changed: ${toVisibleLine(name)}`,
      ...differenceLines(differences.get(name) ?? [], safe`    `),
    ]),
    ...prompts.added.map((name) => safe`  prompt added: ${toVisibleLine(name)}`),
    ...prompts.removed.map((name) => safe`  prompt removed: ${toVisibleLine(name)}`),
    ...prompts.changed.map((name) => safe`  prompt changed: ${toVisibleLine(name)}`),
    ...(skills?.added ?? []).map((uri) => safe`  skill added: ${toVisibleLine(uri)}`),
    ...(skills?.removed ?? []).map((uri) => safe`  skill removed: ${toVisibleLine(uri)}`),
    ...(skills?.changed ?? []).map((uri) => safe`  skill changed: ${toVisibleLine(uri)}`),
  ]);
}

function change(before: string | undefined, after: string | undefined): SafeText {
  if (before === undefined) return safe`added`;
  return after === undefined ? safe`removed` : safe`changed`;
}

function driftDocument({ kind, members, tools, prompts, skills }: LockDrift, differences: ToolDifferences): object {
  const changed = tools.changed.map((name) => {
    const difference = differences.get(name);
    return { name, difference };
  });
  return { kind, members, tools: { ...tools, changed }, prompts, skills };
}

/** Returns how many tools and prompts a catalog has, such as `9 tools, 1 prompt`. */
function catalogWords({ tools, prompts }: { readonly tools: Sized; readonly prompts: Sized }): SafeText {
  const parts = [count(tools.size, "tool"), ...(prompts.size > 0 ? [count(prompts.size, "prompt")] : [])];
  return joinSafe(parts, safe`, `);
}

interface Sized {
  readonly size: number;
}

interface Relock {
  readonly before: LockFile;
  readonly state: "written" | "unchanged";
  readonly looks: ReadonlyMap<string, ServerSnapshot>;
  /** The server that the user named. Undefined if the command is about all servers. */
  readonly only: string | undefined;
}

/** Prints which servers were locked, and how each differs from the previous lock file. */
export function printRelock(
  { before, state, looks, only }: Relock,
  { file, entries }: LockWorkspace,
  { out, globals }: Pick<Context, "out" | "globals">,
): void {
  const locked = [...looks].flatMap(([name, look]) => (look.kind === "seen" ? [{ name, catalog: look.locked }] : []));
  const present = locked.map(({ name, catalog }) => [name, { entry: entries.get(name) ?? {}, catalog }] as const);
  const concerned = new Map([...before].filter(([name]) => only === undefined || name === only));
  const drifts = compareLock(concerned, new Map(present));
  const differences = (drift: LockDrift): ToolDifferences => toolDifferences(drift, before, looks.get(drift.server));
  if (globals.json) {
    const servers = locked.map(({ name, catalog: { version, tools, prompts } }) => {
      return { name, version, tools: tools.size, prompts: prompts.size };
    });
    const changes = drifts.map((drift) => ({ name: drift.server, ...driftDocument(drift, differences(drift)) }));
    out.json({ file, state, servers, changes });
    return;
  }
  for (const { name, catalog } of locked) out.show(safe`${toSafeLine(name)}: ${catalogWords(catalog)}`);
  for (const drift of drifts) {
    const name = toVisibleLine(drift.server);
    if (drift.kind === "changed")
      out.show(safe`${name} locked again with these changes:\n${driftText(drift, differences(drift))}`);
    if (drift.kind === "removed") out.show(safe`${name} removed from the lock file: it is no longer in the settings`);
  }
  out.say(state === "written" ? safe`wrote ${toSafeLine(file)}` : safe`${toSafeLine(file)} is up to date`);
}

/** Formats how one server compares with the lock file. */
export function checkedText(checked: LockCheck): SafeText {
  const { drift, look, isWithheld } = checked;
  const name = toVisibleLine(checked.name);
  const error = errorOf(checked);
  return joinSafe([
    ...(drift ? [safe`${name}: ${driftWords[drift.kind]}${isWithheld ? safe`; it was not started` : safe``}`] : []),
    ...(drift?.kind === "changed" ? [driftText(drift, differences(checked, drift)), breakingText(checked)] : []),
    ...(error ? [safe`${name}: cannot be checked: ${errorLines(error)}`] : []),
    ...(drift === undefined && look?.kind === "seen"
      ? [safe`${name}: matches the lock file (${catalogWords(look.locked)})`]
      : []),
  ]);
}

function breakingText(checked: LockCheck): SafeText {
  const breaking = breakingDrift(checked);
  if (breaking.length === 0) return safe`  no breaking change`;
  return joinSafe(breaking.map((change) => safe`  breaking: ${toSafeLine(change)}`));
}

const driftWords: Readonly<Record<LockDrift["kind"], SafeText>> = {
  added: safe`in the settings, but not locked`,
  removed: safe`locked, but no longer in the settings`,
  changed: safe`differs from the lock file`,
};

function differences({ lock, look }: LockCheck, drift: LockDrift): ToolDifferences {
  return toolDifferences(drift, lock, look);
}

/** Returns the JSON of how one server compares with the lock file. */
export function checkedDocument(checked: LockCheck): object {
  const { name, drift, isWithheld } = checked;
  const error = errorOf(checked);
  const state = drift ? "drifted" : error ? "unchecked" : "as_locked";
  return {
    name,
    state,
    ...(drift && driftDocument(drift, differences(checked, drift))),
    breaking: drift && breakingDrift(checked),
    started: isWithheld ? false : undefined,
    error: error && errorDocument(error),
  };
}
