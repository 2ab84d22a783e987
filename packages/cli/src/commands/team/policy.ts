/** `fairlead team policy`: pushes, lists, shows and restores the policy of a team. */

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { explain } from "@fairlead/core/files";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { DecisionChange, DryRun } from "@fairlead/team/admin/policy-dry-run";
import type { ConfigVersion } from "@fairlead/team/store/configs";
import { table } from "../../output/output.ts";
import { timeText } from "../../output/time-text.ts";
import { toMoment } from "../../shell/log-lines.ts";
import { canAsk, confirm } from "../../shell/prompt.ts";
import type { Context, Verb } from "../../shell/verb.ts";
import { aboutTeam, defineTenant, type OpenTeam, withTeam } from "./with-team.ts";

interface PushOptions {
  readonly since: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** Maximum number of changes that are shown. `--json` has all. */
const mostShown = 20;

const push: Verb = {
  help: `${aboutTeam}
Makes FILE (rules as in docs/policy.md) the policy of the team. Its rules are those of the administrator. First it shows what
would change: the requests of the last 7 days are decided again, by the current policy and by the new one. Then it
asks, unless --yes is given. All replicas apply the new version within two seconds; a file with a mistake is refused here.

Rules about arguments need stored arguments (fairlead.audit.arguments): other requests to their tools are counted as unknown.

Examples:
  fairlead team policy push policy.toml
  fairlead team policy push policy.toml --dry-run --since 1d
  fairlead team policy push policy.toml --yes`,

  define(command) {
    command.argument("<file>", "the rules, as TOML");
    definePush(command);
  },

  async run(context) {
    const { io, operands } = context;
    const [file = ""] = operands;
    const path = resolve(io.cwd, file);
    const text = await readFile(path, "utf8").catch((cause: unknown) => {
      throw new HostError("usage", `${path} cannot be read: ${explain(cause)}`, { cause });
    });
    await withTeam(context, (team) =>
      replacePolicy(context, team, { text, name: file }, (expected) => team.admin.pushPolicy(text, expected)),
    );
  },
};

function definePush(command: Context["command"]): void {
  command
    .option("--since <when>", "decide the requests since then again: 1d, 12h, or a time like 2026-01-31T08:30", "7d")
    .option("--dry-run", "only show what would change")
    .option("--yes", "do not ask");
  defineTenant(command);
}

/** Shows what a policy would change, asks, and makes it the current one. */
async function replacePolicy(
  context: Context,
  team: OpenTeam,
  wanted: { readonly text: string; readonly name: string },
  store: (expected: number) => Promise<ConfigVersion>,
): Promise<void> {
  const { io, out, globals, command, operands } = context;
  const { since, dryRun: isDry = false, yes: isYes = false } = command.opts<PushOptions>();
  if (!isDry && !isYes && !canAsk(io))
    throw new HostError("usage", `${command.name()} asks first, and there is no terminal to ask on`, {
      next: [command.name(), ...operands, "--yes"].join(" "),
    });
  const from = toMoment(since, Date.now());
  const current = await team.store.configs.current(team.tenant, "policy");
  const run = await tryPolicy(context, team, current, wanted, from);
  if (!globals.json) printDryRun(context, run, since);
  if (isDry) return globals.json ? out.json({ pushed: false, dryRun: dryRunDocument(run) }) : undefined;
  if (!isYes && !(await confirm(io, safe`Make ${toVisibleLine(wanted.name)} the policy of the team?`)))
    return globals.json ? out.json({ pushed: false, dryRun: dryRunDocument(run) }) : out.say(safe`nothing was changed`);
  const { version, sha256 } = await store(current?.version ?? 0);
  if (globals.json) return out.json({ pushed: true, version, sha256, dryRun: dryRunDocument(run) });
  out.print(safe`pushed: version ${version}`);
  if (current !== undefined) out.undo(`fairlead team policy rollback ${current.version}`);
}

/** @throws HostError `settings_invalid` for rules with a mistake */
async function tryPolicy(
  { out, globals, io }: Context,
  { store, tenant, environment }: OpenTeam,
  current: ConfigVersion | undefined,
  { text, name }: { readonly text: string; readonly name: string },
  since: number,
): Promise<DryRun> {
  const [{ loadTenantRules }, { dryRun }] = await Promise.all([
    import("@fairlead/team/settings/tenant-configuration"),
    import("@fairlead/team/admin/policy-dry-run"),
  ]);
  const settings = (await store.configs.current(tenant, "settings"))?.body;
  const after = await loadTenantRules(environment, { settings, policy: { name, text } });
  const earlier = current && { name: `policy version ${current.version}`, text: current.body };
  const before = await loadTenantRules(environment, { settings, policy: earlier });
  const begin = Date.now();
  let toldAt = begin;
  return dryRun({
    store,
    tenant,
    before,
    after,
    since,
    until: begin,
    onProgress(part) {
      if (globals.json || io.stderr.isTTY !== true || Date.now() - toldAt < 1000) return;
      toldAt = Date.now();
      out.say(safe`reading the history: ${Math.round(part * 100)} %`);
    },
  });
}

function printDryRun(
  { out }: Context,
  { requests, changed, unknown, changes, hasAnnotations }: DryRun,
  since: string,
): void {
  const users = changes.reduce((most, each) => Math.max(most, each.users), 0);
  out.print(
    changed === 0
      ? safe`no decision would change: ${requests} requests since ${toSafeLine(since)} were decided again`
      : safe`${changed} of ${requests} requests since ${toSafeLine(since)} would be decided differently, for up to ${users} users a tool`,
  );
  if (changes.length > 0)
    out.print(
      table([
        ["  requests", "users", "what", "now", "then", "the latest one", "new rule"].map((text) => toSafeLine(text)),
        ...changes.slice(0, mostShown).map(changeCells),
      ]),
    );
  if (changes.length > mostShown) out.print(safe`  and ${changes.length - mostShown} more: --json shows all`);
  if (unknown > 0)
    out.print(
      safe`${unknown} more requests cannot be decided again: a rule is about their arguments, which are not stored`,
    );
  if (hasAnnotations)
    out.print(safe`a rule is about annotations, which are not in the history: they were decided as if no tool had any`);
}

function changeCells({ server, tool, kind, from, to, count, users, example }: DecisionChange): readonly SafeText[] {
  const what = kind === "tool" ? `${server}.${tool}` : `${kind} ${server}.${tool}`;
  const by = example.client === undefined ? example.user : `${example.user} with ${example.client}`;
  return [
    safe`  ${count}`,
    safe`${users}`,
    toVisibleLine(what),
    toVisibleLine(from),
    toVisibleLine(to),
    toVisibleLine(`${timeText(new Date(example.at).toISOString(), false)} ${by}`),
    toVisibleLine(example.after),
  ];
}

function dryRunDocument({ changes, ...run }: DryRun): object {
  return {
    ...run,
    changes: changes.map(({ example, ...change }) => ({
      ...change,
      example: { ...example, at: new Date(example.at).toISOString() },
    })),
  };
}

const list: Verb = {
  help: `${aboutTeam}
Lists the versions of the policy, the current one last.

Examples:
  fairlead team policy list`,

  define: defineTenant,

  async run(context) {
    const { out, globals } = context;
    const versions = await withTeam(context, ({ admin }) => admin.policies());
    const shown = versions.map(({ version, author, at, sha256, body }) => ({
      version,
      author,
      at: new Date(at).toISOString(),
      sha256,
      bytes: Buffer.byteLength(body),
    }));
    if (globals.json) return out.json({ versions: shown });
    if (shown.length === 0) return out.say(safe`no policy was pushed`);
    out.print(
      table([
        ["version", "pushed by", "at", "bytes", "sha256"].map((text) => toSafeLine(text)),
        ...shown.map(({ version, author, at, bytes, sha256 }) => [
          safe`${version}`,
          toVisibleLine(author),
          toSafeLine(timeText(at, false)),
          safe`${bytes}`,
          toSafeLine(sha256.slice(0, 12)),
        ]),
      ]),
    );
  },
};

const show: Verb = {
  help: `${aboutTeam}
Prints the current policy, or an earlier version of it.

Examples:
  fairlead team policy show
  fairlead team policy show 12 > policy.toml`,

  define(command) {
    defineTenant(command.argument("[version]", "the number of the version; default: the current one"));
  },

  async run(context) {
    const { out, globals, operands } = context;
    const version = operands[0] === undefined ? undefined : toVersion(operands[0]);
    const found = await withTeam(context, ({ admin }) => admin.policy(version));
    if (globals.json) return out.json({ ...found, at: new Date(found.at).toISOString() });
    out.print(
      joinSafe(
        found.body
          .replace(/\n$/, "")
          .split("\n")
          .map((line) => toVisibleLine(line)),
        safe`\n`,
      ),
    );
  },
};

const rollback: Verb = {
  help: `${aboutTeam}
Makes an earlier version of the policy the current one again, as a new version. Shows what would change and asks, as push does.

Examples:
  fairlead team policy rollback 12`,

  define(command) {
    command.argument("<version>", "the number of the version");
    definePush(command);
  },

  async run(context) {
    const version = toVersion(context.operands[0] ?? "");
    await withTeam(context, async (team) => {
      const { body: text } = await team.admin.policy(version);
      const name = `policy version ${version}`;
      await replacePolicy(context, team, { text, name }, (expected) => team.admin.rollback(version, expected));
    });
  },
};

function toVersion(word: string): number {
  if (/^[1-9]\d{0,14}$/.test(word)) return Number(word);
  throw new HostError("usage", `"${word}" is not the number of a version`, { next: "fairlead team policy list" });
}

export const verbs: Readonly<Record<"push" | "list" | "show" | "rollback", Verb>> = { push, list, show, rollback };
