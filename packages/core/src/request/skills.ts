/**
 * Loads skills and reads their files, as requests for `run`. Nothing is read ahead: `SKILL.md` when the skill is loaded,
 * another file when it is asked for.
 */

import type { JsonObject } from "@fairlead/wire";
import { HostError } from "../errors.ts";
import type { ReadTimes } from "../execute/repeat.ts";
import type { RequestOptions } from "../host/types.ts";
import type { PolicyRequest } from "../policy/decide.ts";
import type { Connection } from "../server/connection.ts";
import type { CallWatch } from "../server/registered-tool.ts";
import type { Server } from "../server/server.ts";
import { type SkillAddress, SkillMismatch, type VerifiedFile } from "../skills/server-skills.ts";
import { declaresSkills, ignoredMembers, instructionsFile, type Skill, skillPath } from "../skills/skill.ts";
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
  | "who"
  | "client"
  | "conversation"
  | "connection"
  | "signal"
  | "confirm"
  | "confirmed"
  | "acceptChanged"
  | "turn"
  | "actingOn"
  | "meta"
  | "received"
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
 * Reads a file of a skill. If the file differs from the entry, or the entry does not list it, gets the entry again: a
 * changed entry needs a new decision, and an unchanged one is an error.
 *
 * @throws HostError `not_found`, `usage` if the name is ambiguous, `denied`, `changed`
 */
export async function readSkill(wanted: WantedSkill, asker: SkillAsker, host: RequestHost): Promise<LoadedSkillFile> {
  const { file = instructionsFile } = wanted;
  const server = host.servers.get(wanted.server);
  let skill = await findSkill(wanted, asker, host);
  for (let attempt = 1; ; attempt += 1) {
    try {
      await server.skills.loadAccepted(skill);
      const path = server.skills.pathOf(skill, file);
      return await runRequest(requestFor(server, skill, path, asker, host), host);
    } catch (error) {
      if (!(error instanceof SkillMismatch) || attempt > 1) throw error;
      if (error.reason === "unlisted") await refuseByName(server, skill.uri, asker, host);
      const fresh = await fetchSkill(server, skill.uri, asker, host).catch(() => undefined);
      if (fresh === undefined || fresh.digest === skill.digest) throw error;
      skill = fresh;
    }
  }
}

/** A file of a skill as the answer to `resources/read`. */
export function toResource({ uri, bytes, answer }: LoadedSkillFile): JsonObject {
  if (answer !== undefined) return answer;
  const text = bytes.toString("utf8");
  const isText = Buffer.from(text, "utf8").equals(bytes);
  return { contents: [isText ? { uri, text } : { uri, blob: bytes.toString("base64") }] };
}

/** The most folders above an address in which a skill is searched that its server does not list. */
const mostFolders = 8;

/**
 * The skill that an address belongs to, so that it is read as a file of the skill and not as a resource. A server that
 * was never connected is connected first, unless the rules deny the request. A skill that the server does not list is
 * found by its `SKILL.md`, and in the scheme `skill://` also by its other files.
 *
 * @throws HostError `denied`, or `protocol` if the entry of the skill cannot be used
 */
export async function skillAt(
  serverName: string,
  uri: string,
  asker: SkillAsker,
  host: RequestHost,
): Promise<SkillAddress | undefined> {
  const server = host.servers.get(serverName);
  if (server.facts(asker.connection) === undefined) {
    const { who, client, conversation } = asker;
    const request = { who, client, conversation, kind: "resource", serverName, serverToolName: uri } as const;
    if ((await host.rules()).isDeniedByName(request)) return undefined;
    if (foldersAbove(uri).length > 0) await refuseByName(server, uri, asker, host);
    await host.work.run(
      (signal) => readyWithin(server, asker.wait, host.clock, signal, asker.connection),
      asker.signal,
    );
  }
  if (!declaresSkills(server.facts(asker.connection)?.capabilities ?? {})) return undefined;
  const found = server.skills.at(uri);
  if (found !== undefined) return found;
  const folders = foldersAbove(uri);
  const dropped = server.catalog?.catalog.dropped.find(
    ({ kind, name = "" }) => kind === "skills" && folders.includes(name),
  );
  if (dropped !== undefined) throw unusable(serverName, dropped.name ?? "", dropped.reason);
  for (const instructions of folders) {
    const skill = await findUnlisted(server, instructions, asker, host);
    if (skill !== undefined) return server.skills.at(uri);
  }
  return undefined;
}

/** The `SKILL.md` of each skill that an address may belong to, the innermost first. */
function foldersAbove(uri: string): readonly string[] {
  if (uri.endsWith(`/${instructionsFile}`)) return [uri];
  if (!uri.startsWith("skill://")) return [];
  const [, ...parts] = uri.slice("skill:/".length).split("/");
  const folders = parts.slice(0, -1).map((_, at) => `skill://${parts.slice(0, at + 1).join("/")}/${instructionsFile}`);
  return folders.reverse().slice(0, mostFolders);
}

/** Asks the server for the entry of a skill that it does not list. Undefined if it has no such skill. */
function findUnlisted(server: Server, uri: string, asker: SkillAsker, host: RequestHost): Promise<Skill | undefined> {
  return host.work.run(async (signal) => {
    const connection = await readyWithin(server, asker.wait, host.clock, signal, asker.connection);
    const times = { signal, timeout: asker.timeout ?? server.timeout };
    const answer = await connection
      .request(`skill ${uri} of ${server.name}`, "skills/get", { uri }, times)
      .catch(unlessInterrupted);
    return answer && server.skills.hold(uri, answer);
  }, asker.signal);
}

/** Undefined for an error that the server has answered. Throws if there was no answer. */
function unlessInterrupted(error: unknown): undefined {
  if (error instanceof HostError && ["cancelled", "lost", "call_timeout"].includes(error.code)) throw error;
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
  if (dropped) return unusable(serverName, wanted, dropped.reason);
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

function unusable(serverName: string, skill: string, reason: string): HostError {
  return new HostError("not_found", `skill ${skill} of "${serverName}" cannot be used: ${reason}`, { serverName });
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
  { onAllowed, timeout, wait, confirm, ...asker }: SkillAsker,
  host: RequestHost,
): Request<LoadedSkillFile> {
  const subject = { kind: "skill", serverName: server.name, serverToolName: skill.uri, args: { file } } as const;
  const { skills } = server;
  let wasAsked = asker.who === "user";
  return {
    ...asker,
    ...subject,
    shown: { serverName: server.name, serverToolName: skill.uri, name: skill.name, description: describe(skill) },
    confirm:
      confirm &&
      ((question) =>
        confirm(async () => {
          const details = await question();
          wasAsked ||= details !== false;
          return details;
        })),
    watch: { onAllowed },
    target: {
      kind: "read",
      timeout,
      wait,
      async send(client: Connection, times) {
        const current = await latest(server, skill, file, client, times);
        // The decision was about the entry that the host held.
        if (current?.digest !== skill.digest)
          throw new SkillMismatch(server.name, skill, "entry", "its files have changed");
        const read = await skills.read(client, skill, file, times);
        // What a rule or the user allowed is the set that later entries are compared with.
        if (asker.who === "user") await (await host.rules()).accept({ ...asker, ...subject });
        else if (skills.acceptedDigest(skill) === undefined) {
          await skills.remember(skill);
          if (!wasAsked && skills.whyUnsaved !== undefined) throw unsaved(server.name, skill, skills.whyUnsaved);
        }
        return { ...read, server: server.name, skill };
      },
    },
  };
}

/** A rule allows the skill until its files change, and Fairlead could not tell that in the next run. */
function unsaved(serverName: string, { name, uri }: Skill, why: string): HostError {
  return new HostError("denied", `skill ${name} of "${serverName}" was not used: its digests cannot be saved: ${why}`, {
    serverName,
    next: `fairlead skills show ${toShellWord(`${serverName}/${uri}`)}`,
  });
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
  const entry = await skills.fetch(client, uri, times).catch(unlessInterrupted);
  return entry ?? skills.get(uri);
}

/** The skill's description, and what Fairlead ignores of its frontmatter. */
function describe(skill: Skill): string {
  const ignored = ignoredMembers(skill);
  const note = ignored.length === 0 ? "" : `\n(Fairlead ignores ${ignored.join(", ")} of its frontmatter.)`;
  return `${skill.description}${note}`;
}
