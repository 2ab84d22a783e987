/** `fairlead team status` and `fairlead team migrate`. */

import { waitWords } from "@fairlead/core/plain-text";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { TeamStatus } from "@fairlead/team/admin/team-admin";
import { count, table } from "../../output/output.ts";
import type { Verb } from "../../shell/verb.ts";
import { aboutTeam, defineTenant, environmentOf, withTeam } from "./with-team.ts";

const status: Verb = {
  help: `${aboutTeam}
Shows the replicas that have reported within 30 seconds, with the version of the policy that each applies, why it refuses a
newer one, and the rows that wait on its disk; the current policy; and the requests of the last 24 hours by server.

Examples:
  fairlead team status
  fairlead team status --json`,

  define: defineTenant,

  async run(context) {
    const { out, globals } = context;
    const found = await withTeam(context, ({ admin }) => admin.status());
    if (globals.json) return out.json(toDocument(found));
    const { replicas, policy, settings, requests, questions } = found;
    const now = Date.now();
    out.print(safe`${count(replicas.length, "replica")}`);
    if (replicas.length > 0) out.print(table([replicaHead, ...replicas.map((each) => replicaRow(each, found, now))]));
    for (const { id, configProblem } of replicas)
      if (configProblem !== undefined) out.print(safe`  replica ${id}: ${toVisibleLine(configProblem)}`);
    for (const [name, version] of Object.entries({ policy, settings }))
      out.print(
        safe`${toSafeLine(name)}: ${version === undefined ? safe`none was pushed` : versionText(version, now)}`,
      );
    out.print(safe`questions that wait: ${questions}`);
    out.print(safe`requests of the last 24 hours: ${requests.reduce((sum, each) => sum + each.count, 0)}`);
    for (const line of serverLines(found)) out.print(line);
  },
};

const replicaHead = ["  replica", "address", "version", "policy", "waiting rows", "seen", ""].map((text) =>
  toSafeLine(text),
);

function replicaRow(
  {
    id,
    address,
    version,
    configVersion,
    configProblem,
    isDraining,
    spoolRows = 0,
    policyReadAt,
    seenAt,
  }: TeamStatus["replicas"][number],
  { policy, settings }: TeamStatus,
  now: number,
): readonly SafeText[] {
  const newest = Math.max(policy?.version ?? 0, settings?.version ?? 0);
  const age =
    policyReadAt === undefined ? safe`` : safe`, read ${toSafeLine(waitWords(Math.max(0, now - policyReadAt)))} ago`;
  const state = [
    ...(isDraining ? [safe`draining`] : []),
    ...(configProblem !== undefined ? [safe`refuses a newer version`] : configVersion < newest ? [safe`behind`] : []),
  ];
  return [
    safe`  ${id}`,
    toVisibleLine(address),
    toVisibleLine(version),
    safe`${configVersion}${age}`,
    safe`${spoolRows}`,
    safe`${toSafeLine(waitWords(Math.max(0, now - seenAt)))} ago`,
    joinSafe(state, safe`, `),
  ];
}

function versionText({ version, author, at }: NonNullable<TeamStatus["policy"]>, now: number): SafeText {
  return safe`version ${version}, pushed by ${toVisibleLine(author)} ${toSafeLine(waitWords(Math.max(0, now - at)))} ago`;
}

/** One line for each server: how many requests, and what became of those that did not succeed. */
function serverLines({ requests }: TeamStatus): readonly SafeText[] {
  const names = [...new Set(requests.map(({ server = "" }) => server))];
  return names.map((name) => {
    const own = requests.filter(({ server }) => server === name);
    const all = own.reduce((sum, each) => sum + each.count, 0);
    const others = own.filter(({ outcome }) => outcome !== "ok");
    const words = others.map((each) => safe`${each.count} ${toVisibleLine(each.outcome ?? "")}`);
    return safe`  ${toVisibleLine(name)}: ${all}${words.length === 0 ? safe`` : safe` (${joinSafe(words, safe`, `)})`}`;
  });
}

function toDocument({ replicas, policy, settings, requests, questions }: TeamStatus): object {
  const time = (at: number | undefined): string | undefined => (at === undefined ? undefined : timeOf(at));
  const version = (one: TeamStatus["policy"]): object | undefined => one && { ...one, at: timeOf(one.at) };
  return {
    replicas: replicas.map(({ startedAt, seenAt, policyReadAt, ...replica }) => ({
      ...replica,
      startedAt: time(startedAt),
      seenAt: time(seenAt),
      policyReadAt: time(policyReadAt),
    })),
    policy: version(policy),
    settings: version(settings),
    questions,
    requests: requests.map(({ latest, ...each }) => ({ ...each, latest: timeOf(latest) })),
  };
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}

const migrate: Verb = {
  help: `${aboutTeam}
Brings the tables to the version of this program. A replica does this too when it starts; run it before, if the replicas'
account of the database may not change tables. Replicas of the version before go on while and after it runs.

Examples:
  fairlead team migrate`,

  async run(context) {
    const { out, globals } = context;
    const [{ loadTeamSettings }, { migrate: run }, { migrations }, { addressesOf }] = await Promise.all([
      import("@fairlead/team/settings/load-team-settings"),
      import("@fairlead/team/store/postgres/migrate"),
      import("@fairlead/team/store/postgres/migrations"),
      import("@fairlead/team/store/postgres/address"),
    ]);
    const { url, lockUrl } = (await loadTeamSettings(environmentOf(context))).store;
    // A migration takes a lock for longer than a pooler may lend a connection.
    const done = await run(addressesOf(lockUrl ?? url, lockUrl === undefined ? "url" : "lockUrl"));
    if (globals.json) return out.json({ migrations: done, version: migrations.length });
    out.print(
      done === 0
        ? safe`the tables have version ${migrations.length} already`
        : safe`${count(done, "migration")} done: the tables have version ${migrations.length}`,
    );
  },
};

export const verbs: Readonly<Record<"status" | "migrate", Verb>> = { status, migrate };
