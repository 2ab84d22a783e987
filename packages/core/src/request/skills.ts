/**
 * Loads skills and reads their files, as requests for `run`. Nothing is read ahead: `SKILL.md` when the skill is loaded,
 * another file when it is asked for.
 */

import { HostError } from "../errors.ts";
import type { ReadTimes } from "../execute/repeat.ts";
import type { RequestOptions } from "../host/types.ts";
import type { PolicyRequest } from "../policy/decide.ts";
import type { Connection } from "../server/connection.ts";
import type { CallWatch } from "../server/registered-tool.ts";
import type { Server } from "../server/server.ts";
import { SkillMismatch, type VerifiedFile } from "../skills/server-skills.ts";
import { ignoredMembers, instructionsFile, type Skill, skillPath } from "../skills/skill.ts";
import { closest } from "../text/closest.ts";
import { toShellWord } from "../text/shell-word.ts";
import { confirmTyped } from "./calls.ts";
import type { Request } from "./request.ts";
import { type RequestHost, readyWithin, runRequest } from "./run.ts";

/** A file of a skill that the rules or the user allowed, and that equals the skill's entry. */
export interface LoadedSkillFile extends VerifiedFile {
  readonly server: string;
  readonly skill: Skill;
}

/** Who asks for a file of a skill, and how that person can be asked. */
export type SkillAsker = Pick<
  Request,
  "who" | "client" | "conversation" | "connection" | "signal" | "confirm" | "confirmed" | "acceptChanged" | "turn"
> &
  Pick<RequestOptions, "timeout" | "wait"> &
  Pick<CallWatch, "onAllowed">;

/** Which file of which skill. `skill` is a name, a path such as `acme/billing/refunds`, or the URI of `SKILL.md`. */
export interface WantedSkill {
  readonly server: string;
  readonly skill: string;
  /** The path below the skill's folder. Default: `SKILL.md`, which loads the skill. */
  readonly file?: string | undefined;
}

/** Options of `host.readSkill`. */
export interface ReadSkillOptions extends RequestOptions {
  /** The path below the skill's folder. Default: `SKILL.md`, which loads the skill. */
  readonly file?: string;
  /** Accepts the skill's files before the read, if they have changed. */
  readonly acceptChanged?: boolean;
}

/** Reads a file of a skill for the user or a program. */
export function readSkillForUser(
  server: string,
  skill: string,
  { file, confirm, ...options }: ReadSkillOptions,
  host: RequestHost,
): Promise<LoadedSkillFile> {
  return readSkill(
    { server, skill, file },
    { who: "user", ...options, confirm: confirm && confirmTyped(confirm) },
    host,
  );
}

/**
 * Reads a file of a skill. If the file differs from the entry, gets the entry again: a changed entry needs a new
 * decision, and an unchanged one is an error.
 *
 * @throws HostError `not_found`, `usage` if the name is ambiguous, `denied`, `changed`
 */
export async function readSkill(wanted: WantedSkill, asker: SkillAsker, host: RequestHost): Promise<LoadedSkillFile> {
  const { file = instructionsFile } = wanted;
  const server = host.servers.get(wanted.server);
  let skill = await findSkill(wanted, asker, host);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await runRequest(requestFor(server, skill, file, asker, host), host);
    } catch (error) {
      if (!(error instanceof SkillMismatch) || error.reason === "unlisted" || attempt > 1) throw error;
      const fresh = await fetchSkill(server, skill.uri, asker, host).catch(() => undefined);
      if (fresh === undefined || fresh.digest === skill.digest) throw error;
      skill = fresh;
    }
  }
}

/**
 * The entry of a skill. Connects the server if the host does not hold the entry.
 *
 * @throws HostError `denied` if a rule denies the name, `not_found`, `usage` if several skills have the name
 */
export async function findSkill(
  { server: serverName, skill: wanted }: Pick<WantedSkill, "server" | "skill">,
  asker: SkillAsker,
  host: RequestHost,
): Promise<Skill> {
  const server = host.servers.get(serverName);
  await server.skills.load();
  const held = oneOf(server, server.skills.named(wanted), wanted);
  if (held !== undefined) return held;
  await refuseByName(server, wanted, asker, host);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(wanted)) return fetchSkill(server, wanted, asker, host);
  await readyWithin(server, asker.wait, host.clock, asker.signal, asker.connection);
  const listed = oneOf(server, server.skills.named(wanted), wanted);
  if (listed !== undefined) return listed;
  throw unknownSkill(server, wanted);
}

/** Refuses a skill that the rules deny whatever its server lists. The server is then not started. */
async function refuseByName(
  { name: serverName }: Server,
  wanted: string,
  { who, client, conversation }: SkillAsker,
  host: RequestHost,
): Promise<void> {
  const request: PolicyRequest = { who, client, conversation, kind: "skill", serverName, serverToolName: wanted };
  if (!(await host.rules()).isDeniedByName(request)) return;
  const shown = { serverName, serverToolName: wanted, name: wanted, description: "" };
  await runRequest({ ...request, who, shown, target: { kind: "direct", send: () => Promise.resolve() } }, host);
}

function oneOf({ name: serverName }: Server, found: readonly Skill[], wanted: string): Skill | undefined {
  const [first, second] = found;
  if (second === undefined) return first;
  const names = found.map(({ uri }) => `${serverName}/${skillPath(uri)}`).join(", ");
  throw new HostError("usage", `"${serverName}" has several skills named ${wanted}: ${names}`, { serverName });
}

function unknownSkill({ name: serverName, skills, catalog }: Server, wanted: string): HostError {
  const dropped = catalog?.catalog.dropped.find(
    ({ kind, name = "" }) => kind === "skills" && (name === wanted || skillPath(name).split("/").at(-1) === wanted),
  );
  if (dropped)
    return new HostError("not_found", `skill ${wanted} of "${serverName}" cannot be used: ${dropped.reason}`, {
      serverName,
    });
  const near = closest(
    wanted,
    skills.all().map(({ name }) => name),
  );
  return new HostError(
    "not_found",
    `"${serverName}" has no skill "${wanted}"${near === undefined ? "" : `; did you mean "${near}"?`}`,
    { serverName, next: `fairlead skills ${toShellWord(serverName)}` },
  );
}

/** Gets the entry of a skill from its server. Entries are lists, so they need no decision. */
function fetchSkill(server: Server, uri: string, asker: SkillAsker, host: RequestHost): Promise<Skill> {
  return host.work.run(async (signal) => {
    const connection = await readyWithin(server, asker.wait, host.clock, signal, asker.connection);
    const { timeout = server.timeout } = asker;
    return server.skills.fetch(connection, uri, { signal, timeout });
  }, asker.signal);
}

function requestFor(
  server: Server,
  skill: Skill,
  file: string,
  { onAllowed, timeout, wait, ...asker }: SkillAsker,
  host: RequestHost,
): Request<LoadedSkillFile> {
  const subject = { kind: "skill", serverName: server.name, serverToolName: skill.uri, args: { file } } as const;
  return {
    ...asker,
    ...subject,
    shown: { serverName: server.name, serverToolName: skill.uri, name: skill.name, description: describe(skill) },
    watch: { onAllowed },
    target: {
      kind: "read",
      timeout,
      wait,
      async send(client: Connection, times) {
        const { skills } = server;
        const current = await latest(server, skill, file, client, times);
        // The decision was about the entry that the host held.
        if (current?.digest !== skill.digest)
          throw new SkillMismatch(server.name, skill, "entry", "its files have changed");
        const read = await skills.read(client, skill, file, times);
        // What a rule or the user allowed is the set that later entries are compared with.
        if (asker.who === "user" || skills.accepted(skill.uri) === undefined)
          await (await host.rules()).accept({ ...asker, ...subject });
        return { ...read, server: server.name, skill };
      },
    },
  };
}

/**
 * The entry as the server has it when the skill is loaded. A server that cannot tell leaves the entry as it is: the files
 * must equal it in any case.
 */
async function latest(
  { skills }: Server,
  { uri }: Skill,
  file: string,
  client: Connection,
  times: ReadTimes,
): Promise<Skill | undefined> {
  if (file !== instructionsFile) return skills.get(uri);
  return skills.fetch(client, uri, times).catch((error: unknown) => {
    if (error instanceof HostError && ["cancelled", "lost", "call_timeout"].includes(error.code)) throw error;
    return skills.get(uri);
  });
}

/** The skill's description, and what Fairlead ignores of its frontmatter. */
function describe(skill: Skill): string {
  const ignored = ignoredMembers(skill);
  const note = ignored.length === 0 ? "" : `\n(Fairlead ignores ${ignored.join(", ")} of its frontmatter.)`;
  return `${skill.description}${note}`;
}
