import { execFile } from "node:child_process";
import { chmod, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  type IdeCompanion,
  ideCompanion,
  stdioServer,
  type TemporaryFolder,
  temporaryFolder,
} from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createHost, type Host, type HostOptions } from "../../src/index.ts";
import { approve } from "../../src/trust/approvals.ts";
import { loadConfiguration } from "../../src/trust/configuration.ts";
import { buildProgram } from "../support/build-program.ts";
import { manualClock } from "../support/manual-clock.ts";

const userFile = "home/.gemini/settings.json";
const workspaceFile = "work/.gemini/settings.json";
const trustFile = "home/.gemini/trustedFolders.json";

interface Scene {
  readonly root: string;
  readonly environment: NonNullable<HostOptions["environment"]>;
  /** A host in the integrated terminal of the companion's IDE. No time passes in it. */
  readonly open: (companion: IdeCompanion, options?: HostOptions) => Promise<Host>;
}

/** A server of the user with `"trust": true`, and a workspace with a server that is approved. */
async function place(folder: TemporaryFolder): Promise<Scene> {
  const [home, root] = [join(folder.path, "home"), join(folder.path, "work")];
  const entry = stdioServer("well-behaved");
  await folder.write(userFile, { mcpServers: { mine: { ...entry, trust: true } } });
  await folder.write(workspaceFile, { mcpServers: { theirs: entry } });
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    TMPDIR: join(folder.path, "tmp"),
    GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none"),
  };
  const environment = { env, home, cwd: root, platform: process.platform };
  const { settings, locations } = await loadConfiguration({ environment, embedderTrust: true });
  const entries = settings.servers.flatMap(({ definition, scope }) =>
    definition && scope === "workspace" ? [definition] : [],
  );
  await approve(locations.state, locations.root, entries);
  return {
    root,
    environment,
    open: (companion, options = {}) =>
      createHost({
        environment: { ...environment, env: { ...env, ...companion.variables(root) } },
        clock: manualClock(),
        ...options,
      }),
  };
}

const statusOf = (host: Host, server: string): string | undefined =>
  host.states().find(({ name }) => name === server)?.status;

async function stateOf(host: Host): Promise<readonly unknown[]> {
  const { decision } = await host.decide("mine", "echo");
  return [statusOf(host, "theirs"), decision];
}

/** Resolves with the next change that the host has applied. */
function nextChange(host: Host): Promise<boolean> {
  return new Promise((resolve) => {
    const stop = host.on("ide_trust_changed", ({ trusted }) => {
      stop();
      resolve(trusted);
    });
  });
}

function connected(host: Host, server: string): Promise<void> {
  return new Promise((resolve) => {
    const stop = host.on("state", ({ state: { name, status } }) => {
      if (name !== server || status !== "connected") return;
      stop();
      resolve();
    });
  });
}

test("trust that the IDE withdraws and grants again stops and starts the folder's servers, and decisions follow", async () => {
  await using folder = await temporaryFolder();
  const { open } = await place(folder);
  await using companion = await ideCompanion();
  await using host = await open(companion);
  await host.start();
  expect(await stateOf(host)).toEqual(["connected", "allow"]);

  const isWithdrawn = nextChange(host);
  companion.say(false);
  expect(await isWithdrawn).toBe(false);
  expect(await stateOf(host)).toEqual(["blocked", "ask_user"]);
  await expect(host.call("theirs", "echo", { text: "x" })).rejects.toMatchObject({
    code: "untrusted_folder",
    message: expect.stringContaining(`not trusted: reported by the IDE, companion on port ${companion.port}`),
    next: "Trust the folder in the IDE, or set ide.enabled to false in your settings.",
  });

  const isStarted = connected(host, "theirs");
  companion.say(true);
  await isStarted;
  expect(await stateOf(host)).toEqual(["connected", "allow"]);
});

test("the IDE's no counts more than TRUST_FOLDER; with its connection closed, the file counts again", async () => {
  await using folder = await temporaryFolder();
  const { open, root } = await place(folder);
  await folder.write(trustFile, { [root]: "TRUST_FOLDER" });
  const companion = await ideCompanion({ isTrusted: false });
  await using host = await open(companion);
  await host.start();
  expect(await stateOf(host)).toEqual(["blocked", "ask_user"]);
  const isClosed = nextChange(host);
  const isStarted = connected(host, "theirs");
  await companion[Symbol.asyncDispose]();
  expect(await isClosed).toBe(true);
  await isStarted;
  expect(await stateOf(host)).toEqual(["connected", "allow"]);
});

test("a host that has started no servers starts none when trust is granted", async () => {
  await using folder = await temporaryFolder();
  const { open } = await place(folder);
  await using companion = await ideCompanion({ isTrusted: false });
  await using host = await open(companion);
  const isGranted = nextChange(host);
  companion.say(true);
  expect(await isGranted).toBe(true);
  expect(await stateOf(host)).toEqual(["disconnected", "allow"]);
});

test.each<[string, HostOptions | ((scene: Scene) => HostOptions), readonly unknown[]]>([
  ["the program trusts the folder", { trust: true }, ["disconnected", "allow"]],
  ["the program does not trust the folder", { trust: false }, ["blocked", "ask_user"]],
  ["there is no workspace", { workspace: false }, [undefined, "allow"]],
])("the IDE is not asked if %s", async (_, options, expected) => {
  await using folder = await temporaryFolder();
  const scene = await place(folder);
  await using companion = await ideCompanion();
  await using host = await scene.open(companion, typeof options === "function" ? options(scene) : options);
  expect(await stateOf(host)).toEqual(expected);
  expect(companion.seen).toEqual([]);
});

test("the user's ide.enabled turns the question off, also in a running host; a workspace's does nothing", async () => {
  await using folder = await temporaryFolder();
  const { open } = await place(folder);
  const settings = JSON.parse(await folder.read(userFile)) as object;
  const theirs = JSON.parse(await folder.read(workspaceFile)) as object;
  await folder.write(userFile, { ...settings, ide: { enabled: false } });
  await folder.write(workspaceFile, { ...theirs, ide: { enabled: true } });
  await using companion = await ideCompanion();
  await using host = await open(companion);
  expect([await stateOf(host), companion.seen]).toEqual([["blocked", "ask_user"], []]);

  await folder.write(userFile, settings);
  await folder.write(workspaceFile, { ...theirs, ide: { enabled: false } });
  await host.reload();
  expect(await stateOf(host)).toEqual(["disconnected", "allow"]);
  expect(companion.streams()).toBe(1);

  await folder.write(userFile, { ...settings, ide: { enabled: false } });
  await host.reload();
  expect(await stateOf(host)).toEqual(["blocked", "ask_user"]);
  expect(companion.seen.at(-1)?.method).toBe("DELETE");
});

test("no .env file can name a companion, not even the user's own", async () => {
  await using folder = await temporaryFolder();
  const { environment, root } = await place(folder);
  await using companion = await ideCompanion();
  const lines = Object.entries({ ...companion.variables(root), GEMINI_CLI_IDE_PID: "1", TMPDIR: "/" })
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
  for (const file of ["work/.env", "work/.gemini/.env", "home/.env", "home/.gemini/.env"])
    await folder.write(file, lines);
  await folder.write(trustFile, { [root]: "TRUST_FOLDER" });
  await using host = await createHost({ environment, clock: manualClock() });
  expect(await stateOf(host)).toEqual(["disconnected", "allow"]);
  expect(companion.seen).toEqual([]);
});

test.each([
  ["the workspace's", workspaceFile, undefined],
  ["the user's", userFile, "blocked"],
])("a mistake in %s settings file does not keep the trust that the IDE withdraws", async (_, file, status) => {
  await using folder = await temporaryFolder();
  const { open } = await place(folder);
  await using companion = await ideCompanion();
  await using host = await open(companion);
  await host.start();
  expect(await stateOf(host)).toEqual(["connected", "allow"]);
  await folder.write(file, "{ broken");
  const isWithdrawn = nextChange(host);
  companion.say(false);
  expect(await isWithdrawn).toBe(false);
  expect(await stateOf(host)).toEqual([status, "ask_user"]);
});

test("settings that cannot be read when the IDE reports are named with their mistake", async () => {
  await using folder = await temporaryFolder();
  const { open } = await place(folder);
  await using companion = await ideCompanion();
  await using host = await open(companion);
  await folder.write(userFile, "{ broken");
  const unread = new Promise((resolve) => {
    host.on("settings_unread", resolve);
  });
  companion.say(false);
  const file = join(folder.path, userFile);
  expect(await unread).toEqual({
    type: "settings_unread",
    message: expect.stringMatching(`^${file} is not valid JSON: .*; the host keeps its earlier settings$`),
    next: `Correct ${file} at line 1, column 3.`,
  });
});

test("reports that come faster than a host can reload end in the last of them", async () => {
  await using folder = await temporaryFolder();
  const { open } = await place(folder);
  await using companion = await ideCompanion();
  await using host = await open(companion);
  await host.start();
  for (const isTrusted of [false, true, false, true, false]) companion.say(isTrusted);
  while ((await stateOf(host)).join() !== "blocked,ask_user") await nextChange(host);
  expect(companion.streams()).toBe(1);
});

test("the token is in no file, even if all protocol messages are logged", async () => {
  await using folder = await temporaryFolder();
  const { open } = await place(folder);
  await using companion = await ideCompanion();
  {
    await using host = await open(companion, { debug: true });
    await host.start();
    await host.call("theirs", "echo", { text: "x" });
    expect(JSON.stringify(host.problems())).not.toContain(companion.token);
  }
  const files = await readdir(join(folder.path, "home"), { recursive: true, withFileTypes: true });
  const texts = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), "latin1")),
  );
  expect(texts.length).toBeGreaterThan(3);
  expect(texts.filter((text) => text.includes(companion.token))).toEqual([]);
});

test("a port file of the IDE above this process counts without any variable", async () => {
  await using folder = await temporaryFolder();
  const { environment, root } = await place(folder);
  await using companion = await ideCompanion();
  const file = await companion.writePortFile(folder, { process: process.ppid, workspace: root });
  {
    await using host = await createHost({ environment, clock: manualClock() });
    expect(await stateOf(host)).toEqual(["disconnected", "allow"]);
  }
  await chmod(file, 0o644);
  await using host = await createHost({ environment, clock: manualClock() });
  expect(await stateOf(host)).toEqual(["blocked", "ask_user"]);
});

test("a program that does not close its host ends although the IDE's connection is open", async () => {
  await using folder = await temporaryFolder();
  const { environment, root } = await place(folder);
  await using companion = await ideCompanion();
  const program = await buildProgram("leave-host-open", folder.path);
  const env = { ...environment.env, ...companion.variables(root) };
  const { stdout } = await promisify(execFile)(process.execPath, [program], { cwd: root, env });
  // On a busy machine, the IDE may not have answered within its second.
  expect(JSON.parse(stdout)).toHaveProperty("counts");
  expect(companion.seen[0]?.method).toBe("POST");
});
