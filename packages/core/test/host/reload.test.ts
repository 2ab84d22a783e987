import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createHost } from "../../src/index.ts";

test("a changed settings file is noticed, and taken over without touching servers that are still the same", async () => {
  await using folder = await temporaryFolder();
  const notes = join(folder.path, "notes");
  const server = (name: string, ...more: string[]): object => stdioServer("counted", notes, "", name, ...more);
  const settings = (mcpServers: object): Promise<unknown> => folder.write("home/.gemini/settings.json", { mcpServers });
  await settings({ kept: server("kept"), other: server("other"), gone: stdioServer("conformance") });
  const home = join(folder.path, "home");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  const environment = { env, home, cwd: home, platform: process.platform };
  await using host = await createHost({ environment, watch: true });
  await host.start();
  const ofGone = (): readonly number[] =>
    [host.tools(), host.resources(), host.prompts()].map(
      (listed) => listed.filter(({ server }) => server === "gone").length,
    );
  expect(ofGone()).not.toContain(0);
  const told = new Promise((resolve) => {
    host.on("settings_changed", ({ file }) => resolve(file));
  });
  await settings({
    fresh: server("fresh"),
    kept: { ...server("kept"), description: "new words" },
    other: server("other", "x"),
  });
  expect(await told).toBe(join(home, ".gemini/settings.json"));
  expect(await host.reload()).toEqual({
    kept: ["kept", "demo"],
    replaced: ["other"],
    added: ["fresh"],
    removed: ["gone"],
  });
  expect(host.states().map(({ name, status }) => [name, status])).toEqual([
    ["fresh", "disconnected"],
    ["kept", "connected"],
    ["other", "disconnected"],
    ["demo", "disconnected"],
  ]);
  expect(() => host.tools("gone")).toThrow('there is no server "gone"');
  expect(host.tools().map(({ server }) => server)).toEqual(["kept", "kept"]);
  expect(ofGone()).toEqual([0, 0, 0]);
  await host.start();
  const starts = (await readFile(notes, "utf8")).split("\n").filter((line) => line.startsWith("start"));
  expect(starts.slice(2).sort()).toEqual(["start fresh", "start other"]);
});

test("a settings file that is written anew with the same text is no news", async () => {
  await using folder = await temporaryFolder();
  const settings = (text: object): Promise<unknown> => folder.write("home/.gemini/settings.json", text);
  await settings({ mcpServers: {} });
  const home = join(folder.path, "home");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  await using host = await createHost({
    environment: { env, home, cwd: home, platform: process.platform },
    watch: true,
  });
  const files: string[] = [];
  const told = new Promise((resolve) => {
    host.on("settings_changed", ({ file }) => resolve(files.push(file)));
  });
  await settings({ mcpServers: {} });
  await settings({ mcpServers: { a: { command: "a" } } });
  await told;
  expect(files).toHaveLength(1);
});

test("what a server may ask is taken away from it with the settings that allowed it", async () => {
  await using folder = await temporaryFolder();
  const notes = join(folder.path, "notes");
  const settings = (sampling: boolean): Promise<unknown> =>
    folder.write("home/.gemini/settings.json", {
      mcpServers: { s: stdioServer("counted", notes) },
      fairlead: { servers: { s: { sampling } } },
    });
  await settings(true);
  const home = join(folder.path, "home");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  const environment = { env, home, cwd: home, platform: process.platform };
  await using host = await createHost({ environment, sample: async () => ({}) });
  await host.start();
  await settings(false);
  await host.restart();
  const declared = (await readFile(notes, "utf8")).split("\n").filter((line) => line.startsWith("declared"));
  expect(declared).toEqual(['declared {"sampling":{}}', "declared {}"]);
  expect(host.states()[0]).toMatchObject({ status: "connected" });
});

test("settings that an editor is just writing change nothing", async () => {
  await using folder = await temporaryFolder();
  await folder.write("home/.gemini/settings.json", { mcpServers: { s: stdioServer("counted") } });
  const home = join(folder.path, "home");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  await using host = await createHost({ environment: { env, home, cwd: home, platform: process.platform } });
  await host.start();
  await folder.write("home/.gemini/settings.json", '{"mcpServers":{"s":');
  const file = join(home, ".gemini/settings.json");
  await expect(host.reload()).rejects.toMatchObject({
    code: "settings_invalid",
    message: expect.stringMatching(`^${file} is not valid JSON: .*; the host keeps its earlier settings$`),
    next: `Correct ${file} at line 1, column 20.`,
  });
  expect(host.states()[0]).toMatchObject({ name: "s", status: "connected" });
});

test("a folder that is no longer trusted loses its servers, also while the user's settings cannot be read", async () => {
  await using folder = await temporaryFolder();
  const [home, root] = [join(folder.path, "home"), join(folder.path, "work")];
  const trust = (state: string): Promise<unknown> =>
    folder.write("home/.gemini/trustedFolders.json", { [root]: state });
  await trust("TRUST_FOLDER");
  await folder.write("home/.gemini/settings.json", { mcpServers: { mine: stdioServer("counted") } });
  await folder.write("work/.gemini/settings.json", { mcpServers: { theirs: stdioServer("counted") } });
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  await using host = await createHost({ environment: { env, home, cwd: root, platform: process.platform } });
  await host.approve();
  await host.start();
  const statuses = () => host.states().map(({ name, status }) => [name, status]);
  expect(statuses()).toMatchObject([
    ["mine", "connected"],
    ["theirs", "connected"],
    ["demo", "disconnected"],
  ]);
  await folder.write("home/.gemini/settings.json", "{ broken");
  await trust("DO_NOT_TRUST");
  await expect(host.reload()).rejects.toMatchObject({ code: "settings_invalid" });
  expect(statuses()).toMatchObject([
    ["mine", "disconnected"],
    ["theirs", "blocked"],
    ["demo", "disconnected"],
  ]);
  expect(await host.call("mine", "echo", {})).toMatchObject({ isError: false });
});

test("a settings file is noticed that was not there, nor its folder", async () => {
  await using folder = await temporaryFolder();
  await folder.write("home/other", "");
  const home = join(folder.path, "home");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  const environment = { env, home, cwd: home, platform: process.platform };
  await using host = await createHost({ environment, watch: true, workspace: false });
  const told = new Promise((resolve) => {
    host.on("settings_changed", ({ file }) => resolve(file));
  });
  await folder.write("home/.gemini/settings.json", { mcpServers: {} });
  expect(await told).toBe(join(home, ".gemini/settings.json"));
});

test("calls that wait start when a reload raises the limit of calls at one server", async () => {
  await using folder = await temporaryFolder();
  const write = (callsPerServer: number): Promise<unknown> =>
    folder.write("home/.gemini/settings.json", { fairlead: { limits: { callsPerServer } } });
  await write(1);
  const home = join(folder.path, "home");
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  await using host = await createHost({ environment: { env, home, cwd: home, platform: process.platform } });
  await host.call("demo", "greet", { name: "Charles" });
  const stop = new AbortController();
  const running = host.call("demo", "wait", { seconds: 3600 }, { signal: stop.signal });
  const waiting = host.call("demo", "greet", { name: "Ada" });
  await write(2);
  await host.reload();
  const later = host.call("demo", "greet", { name: "Grace" });
  expect((await Promise.all([waiting, later])).map(({ isError }) => isError)).toEqual([false, false]);
  stop.abort();
  await expect(running).rejects.toMatchObject({ code: "cancelled" });
});
