import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createOpenedHost } from "../../src/host.ts";
import { createHost, type Host } from "../../src/index.ts";
import { ConversationTools } from "../../src/server/pinned-tools.ts";
import { approve } from "../../src/trust/approvals.ts";
import { loadConfiguration } from "../../src/trust/configuration.ts";

interface Scene {
  readonly host: Host;
  readonly root: string;
  readonly home: string;
  readonly trust: (isTrusted: boolean) => Promise<unknown>;
  /** Where the last program of that server was started. */
  readonly folderOf: (server: string) => string | undefined;
}

/** A user's server, and a workspace with a script of its own that is approved. */
async function open(folder: TemporaryFolder): Promise<Scene> {
  const { command, args = [] } = stdioServer("counted", join(folder.path, "notes")) as {
    command: string;
    args?: string[];
  };
  const [home, root] = [join(folder.path, "home"), join(folder.path, "work")];
  await folder.write("home/.gemini/settings.json", { mcpServers: { mine: { command, args } } });
  const script = `#!/bin/sh\nexec ${[command, ...args].map((word) => `'${word}'`).join(" ")}\n`;
  await chmod(await folder.write("work/tools/db-server", script), 0o755);
  await folder.write("work/.gemini/settings.json", { mcpServers: { db: { command: "./tools/db-server" } } });
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  const environment = { env, home, cwd: root, platform: process.platform };
  const { settings, locations } = await loadConfiguration({ environment, embedderTrust: true });
  const entries = settings.servers.flatMap(({ definition, scope }) =>
    definition && scope === "workspace" ? [definition] : [],
  );
  await approve(locations.state, locations.root, entries);
  const folders = new Map<string, string>();
  const host = await createHost({
    environment,
    recover: false,
    watch: true,
    observe: (server, step) => void (step.step === "program" && folders.set(server, step.cwd)),
  });
  return {
    host,
    root,
    home,
    trust: (isTrusted) => folder.write("home/.gemini/trustedFolders.json", isTrusted ? { [root]: "TRUST_FOLDER" } : {}),
    folderOf: (server) => folders.get(server),
  };
}

const statusOf = (host: Host, server: string): unknown => host.states().find(({ name }) => name === server)?.status;

test("trust that is granted while a host runs starts the workspace's own program, in the workspace", async () => {
  await using folder = await temporaryFolder();
  const { host, root, home, trust, folderOf } = await open(folder);
  await using _ = host;
  await host.start();
  expect([statusOf(host, "mine"), statusOf(host, "db")]).toEqual(["connected", "blocked"]);
  expect(folderOf("mine")).toBe(home);
  await trust(true);
  await host.reload();
  await host.start();
  expect([statusOf(host, "mine"), statusOf(host, "db")]).toEqual(["connected", "connected"]);
  expect([folderOf("mine"), folderOf("db")]).toEqual([root, root]);
});

test("trust that is revoked while a host runs ends the workspace's servers, and a user's server leaves the workspace", async () => {
  await using folder = await temporaryFolder();
  const scene = await open(folder);
  const { host, home, root, trust, folderOf } = scene;
  await using _ = host;
  await trust(true);
  await host.reload();
  await host.start();
  expect(folderOf("mine")).toBe(root);
  await trust(false);
  await host.reload();
  await host.start();
  expect([statusOf(host, "mine"), statusOf(host, "db")]).toEqual(["connected", "blocked"]);
  expect(folderOf("mine")).toBe(home);
  await expect(host.call("db", "echo", { text: "x" })).rejects.toMatchObject({ code: "untrusted_folder" });
});

test("a host that watches tells when trust changes", async () => {
  await using folder = await temporaryFolder();
  const { host, home, trust } = await open(folder);
  await using _ = host;
  const told = new Promise((resolve) => {
    host.on("settings_changed", ({ file }) => resolve(file));
  });
  await trust(true);
  expect(await told).toBe(join(home, ".gemini/trustedFolders.json"));
});

test("a host reports what other programs change in its workspace, and not what it has changed or read itself", async () => {
  await using folder = await temporaryFolder();
  const file = await folder.write("home/.gemini/settings.json", { mcpServers: {} });
  const home = join(folder.path, "home");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  const options = { environment: { env, home, cwd: home, platform: process.platform }, watch: true };
  await using host = await createOpenedHost(options);
  await using other = await createHost(options);
  const reports: string[] = [];
  host.on("settings_changed", (event) => void reports.push(event.file));
  const told = (by: Pick<Host, "on">): Promise<void> =>
    new Promise((resolve) => {
      by.on("settings_changed", () => resolve());
    });
  await host.changeSettings(async () => {
    const noticed = told(other);
    await folder.write("home/.gemini/settings.json", { mcpServers: { a: { command: "a" } } });
    await noticed;
  });
  expect(host.configuration.servers.map(({ server }) => server.name)).toEqual(["a"]);
  await folder.write("home/.gemini/settings.json", { mcpServers: { b: { command: "b" } } });
  await host.reload();
  await approve(host.configuration.locations.state, "/another/workspace", [{ name: "x", fingerprint: "x" }]);
  const reported = told(host);
  await folder.write("home/.gemini/trustedFolders.json", {});
  await reported;
  expect(reports).toEqual([join(home, ".gemini/trustedFolders.json")]);
  const again = told(host);
  await folder.write("home/.gemini/settings.json", { mcpServers: {} });
  await again;
  expect(reports.slice(1)).toEqual([file]);
});

test("bare names follow the order of the settings after a reload; a conversation keeps those that it has shown", async () => {
  await using folder = await temporaryFolder();
  const server = (name: string): object => stdioServer("counted", join(folder.path, name));
  const settings = (...names: string[]): Promise<unknown> =>
    folder.write("home/.gemini/settings.json", {
      mcpServers: Object.fromEntries(names.map((name) => [name, server(name)])),
    });
  await settings("a", "b");
  const home = join(folder.path, "home");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  await using host = await createHost({
    environment: { env, home, cwd: home, platform: process.platform },
    recover: false,
  });
  await host.start();
  const echoes = (): readonly string[] =>
    host
      .tools()
      .flatMap(({ name, server: from, serverToolName }) => (serverToolName === "echo" ? [`${from} ${name}`] : []));
  const shown = new ConversationTools(host.toolRegistry);
  expect(shown.getTool("echo")?.serverName).toBe("a");
  expect(echoes()).toEqual(["a echo", "b b__echo"]);
  await settings("b", "a");
  expect(await host.reload()).toMatchObject({ kept: ["b", "a", "demo"], replaced: [] });
  expect(echoes()).toEqual(["b echo", "a a__echo"]);
  expect(host.states().map(({ name }) => name)).toEqual(["b", "a", "demo"]);
  expect(shown.getTool("echo")?.serverName).toBe("a");
});
