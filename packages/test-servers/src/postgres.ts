/** A real PostgreSQL for tests: one server for a whole run with a database for each test file, or a server of its own. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { accessSync, chmodSync, chownSync, constants, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { noteProgram } from "./tested-with.ts";

/** The variable with the socket on which `postgres.setup.ts` starts the shared server. */
const socketVariable = "FAIRLEAD_TEST_POSTGRES";
/** The folder with the files of the shared server as they were first. */
const templateName = "template";
/** Where Debian and the other usual systems have the programs. They are not on the PATH of Debian. */
const parents = ["/usr/lib/postgresql", "/usr/pgsql", "/opt/homebrew/opt/postgresql", "/usr/local/opt/postgresql"];

/** The folder with `initdb` and `postgres`, the newest version first. Undefined if this machine has none. */
export const postgresPrograms: string | undefined = folders().find((folder) =>
  ["initdb", "postgres", "psql"].every((program) => isProgram(join(folder, program))),
);

/** The version of PostgreSQL on this machine. Undefined if it has none. */
export function postgresVersion(): string | undefined {
  if (postgresPrograms === undefined) return undefined;
  const words = spawnSync(join(postgresPrograms, "postgres"), ["--version"], { encoding: "utf8" }).stdout;
  return /\d+(?:\.\d+)+/.exec(words)?.[0] ?? words.trim();
}

/** A database for a test file. It is removed at the end. */
export interface TestDatabase extends AsyncDisposable {
  readonly url: string;
  /** Another database on the same server. */
  readonly server: PostgresAddress;
}

/** Where a PostgreSQL listens. */
export interface PostgresAddress {
  /** The folder of its Unix socket. */
  readonly folder: string;
  readonly version: string;
}

/** A PostgreSQL that a test starts and stops. */
export class PostgresServer implements AsyncDisposable {
  readonly folder: string;
  readonly #programs: string;
  readonly #choices: readonly string[];
  #process: ChildProcess | undefined;

  private constructor(programs: string, folder: string, choices: readonly string[]) {
    this.#programs = programs;
    this.folder = folder;
    this.#choices = choices;
  }

  /** Starts a server of its own, with a copy of the shared server's first files. Undefined if this machine has no PostgreSQL. */
  static async open(): Promise<PostgresServer | undefined> {
    const shared = await sharedServer();
    return PostgresServer.create(shared && join(shared.folder, templateName));
  }

  /**
   * Creates the files of a server and starts it. Undefined if this machine has no PostgreSQL.
   *
   * @param template The files to begin with. To create them takes seconds. Absent: they are created, and kept for copies.
   * @param isStandby Whether it only reads until it is promoted, like the second server of a pair.
   * @param choices Settings of PostgreSQL, such as `fsync=on`, which is off in tests.
   */
  static async create(
    template?: string,
    isStandby = false,
    choices: readonly string[] = [],
  ): Promise<PostgresServer | undefined> {
    if (postgresPrograms === undefined) return undefined;
    const folder = mkdtempSync(join(tmpdir(), "postgres-"));
    const server = new PostgresServer(postgresPrograms, folder, choices);
    const user = unprivilegedUser();
    // A test that runs as root has a PostgreSQL that does not: PostgreSQL refuses it.
    if (user !== undefined) chownSync(folder, user.uid, user.gid);
    chmodSync(folder, 0o700);
    const first = template ?? join(folder, templateName);
    const options = ["--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-locale"];
    if (template === undefined)
      await succeeds("initdb", server.#run("initdb", ["-D", first, "--wal-segsize=1", ...options]));
    const copied = spawn("cp", ["-a", first, join(folder, "data")], { stdio: ["ignore", "ignore", "pipe"] });
    await succeeds("cp", copied);
    if (isStandby) {
      const signal = join(folder, "data", "standby.signal");
      writeFileSync(signal, "");
      if (user !== undefined) chownSync(signal, user.uid, user.gid);
    }
    await server.start();
    return server;
  }

  get version(): string {
    return postgresVersion() ?? "";
  }

  /** Resolves when it accepts connections. */
  async start(): Promise<void> {
    const settings = ["fsync=off", "max_connections=200", "listen_addresses=", "shared_buffers=32MB"];
    const wal = ["min_wal_size=8MB", "max_wal_size=64MB", "checkpoint_timeout=30min", "log_checkpoints=off"];
    const choices = [...settings, ...wal, "jit=off", `unix_socket_directories=${this.folder}`, ...this.#choices];
    const args = ["-D", join(this.folder, "data"), ...choices.flatMap((choice) => ["-c", choice])];
    const child = this.#run("postgres", args);
    this.#process = child;
    if (child.stderr === null) throw new Error("postgres has no stderr");
    const seen: string[] = [];
    for await (const line of createInterface(child.stderr)) {
      seen.push(line);
      if (/ready to accept (?:read-only )?connections/.test(line)) break;
    }
    if (child.exitCode !== null) throw new Error(`postgres ended: ${seen.join("\n")}`);
    child.stderr.resume();
  }

  /** Stops it. `immediate` is like a crash: it recovers at the next start. */
  async stop(how: "fast" | "immediate" = "fast"): Promise<void> {
    const child = this.#process;
    if (child === undefined) return;
    this.#process = undefined;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill(how === "fast" ? "SIGINT" : "SIGQUIT");
    await gone;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #run(program: string, args: readonly string[]): ChildProcess {
    const [command, ...before] = [...asUnprivileged(), join(this.#programs, program)];
    const env = { PATH: process.env["PATH"], LC_ALL: "C" };
    return spawn(command, [...before, ...args], { stdio: ["ignore", "ignore", "pipe"], cwd: "/", env });
  }
}

/**
 * Creates an empty database on the shared server of this run, which the first test file that needs it starts. Undefined
 * if this machine has no PostgreSQL. Prints what is tested with it, or that it is absent.
 */
export async function testDatabase(subject: string): Promise<TestDatabase | undefined> {
  const server = await sharedServer();
  noteProgram(subject, "PostgreSQL", server?.version);
  return server && createDatabase(server);
}

/** Creates an empty database. */
export async function createDatabase(server: PostgresAddress): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  await psql(server, `create database ${name} template template0`);
  return {
    url: `postgresql://postgres@/${name}?host=${encodeURIComponent(server.folder)}`,
    server,
    async [Symbol.asyncDispose]() {
      await psql(server, `drop database ${name} with (force)`);
    },
  };
}

/** Announces the socket on which the shared server is asked for. */
export function announcePostgres(socket: string): void {
  process.env[socketVariable] = socket;
}

async function sharedServer(): Promise<PostgresAddress | undefined> {
  const path = process.env[socketVariable];
  if (path === undefined || postgresPrograms === undefined) return undefined;
  const answer = JSON.parse(await text(connect(path))) as PostgresAddress & { readonly error?: string };
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer;
}

async function psql({ folder }: PostgresAddress, statement: string): Promise<void> {
  if (postgresPrograms === undefined) throw new Error("PostgreSQL is absent");
  const args = ["-qX", "-h", folder, "-U", "postgres", "-c", statement, "postgres"];
  const child = spawn(join(postgresPrograms, "psql"), args, { stdio: ["ignore", "ignore", "pipe"] });
  await succeeds(statement, child);
}

async function succeeds(what: string, child: ChildProcess): Promise<void> {
  const exited = once(child, "exit");
  const words = child.stderr === null ? "" : await text(child.stderr);
  await exited;
  if (child.exitCode !== 0) throw new Error(`${what} failed: ${words.trimEnd()}`);
}

/** The words before a command that run it as a user without rights, and end it with this process. */
function asUnprivileged(): readonly string[] {
  const user = unprivilegedUser();
  const setpriv = ["/usr/bin/setpriv", "/bin/setpriv"].find(isProgram);
  if (setpriv === undefined)
    return user === undefined ? [] : ["su", user.name, "-s", "/bin/sh", "-c", 'exec "$0" "$@"'];
  const other = user && [`--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups"];
  return [setpriv, ...(other ?? []), "--pdeathsig=INT", "--"];
}

interface SystemUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** The user that PostgreSQL runs as. Undefined if the tests do not run as root. */
function unprivilegedUser(): SystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ["postgres", "nobody"]) {
    const [uid, gid] = ["-u", "-g"].map((which) => spawnSync("id", [which, name], { encoding: "utf8" }).stdout.trim());
    if (uid && gid) return { name, uid: Number(uid), gid: Number(gid) };
  }
  throw new Error("PostgreSQL does not run as root, and there is no user postgres or nobody");
}

function folders(): readonly string[] {
  return parents.flatMap((parent) => {
    const versions = namesIn(parent).toSorted((one, other) => Number(other) - Number(one));
    return [...versions.map((version) => join(parent, version, "bin")), join(parent, "bin")];
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
