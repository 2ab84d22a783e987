import { chmod, readFile } from "node:fs/promises";
import { join } from "node:path";
import { programServer, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import type { ConnectStep } from "../../src/connect/connect-step.ts";
import { createOpenedHost } from "../../src/host.ts";
import { createHost } from "../../src/index.ts";

interface Run {
  readonly news: readonly object[];
  /** How long connecting may take. */
  readonly milliseconds: number | undefined;
}

/** A home whose `PATH` leads to an `npx` that says something and then is a server. */
async function home(): Promise<TemporaryFolder> {
  const folder = await temporaryFolder();
  const { command, args } = programServer("well-behaved");
  const line = [command, ...args].map((word) => `"${word}"`).join(" ");
  const npx = await folder.write("bin/npx", `#!/bin/sh\necho fetching "$1" >&2\nexec ${line}\n`);
  await chmod(npx, 0o755);
  return folder;
}

async function run(folder: TemporaryFolder, entry: object): Promise<Run> {
  const { path } = folder;
  await folder.write("home/.gemini/settings.json", { mcpServers: { s: entry } });
  const at = join(path, "home");
  const env = { PATH: join(path, "bin"), HOME: at, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(path, "none") };
  const steps: ConnectStep[] = [];
  await using host = await createHost({
    environment: { env, home: at, cwd: at, platform: process.platform },
    recover: false,
    observe: (_server, step) => step.step !== "list" && steps.push(step),
  });
  const news: object[] = [];
  host.on("fetching", (event) => news.push(event));
  host.on("stderr", (event) => news.push(event));
  await host.start();
  expect(host.states()[0]).toMatchObject({ name: "s", status: "connected" });
  const [first] = steps;
  return { news, milliseconds: first?.step === "definition" ? first.timeout.milliseconds : undefined };
}

const fetching = { type: "fetching", server: "s" };
const said = (name: string): object => ({ type: "stderr", server: "s", line: `fetching ${name}` });

test("what has to be fetched is given time on its first run, and on the first one of every other version", async () => {
  await using folder = await home();
  const one = { command: "npx", args: ["one"] };
  expect(await run(folder, one)).toEqual({ news: [fetching, said("one")], milliseconds: 120_000 });
  expect(await run(folder, one)).toEqual({ news: [said("one")], milliseconds: 30_000 });
  const two = { command: "npx", args: ["two"] };
  expect(await run(folder, two)).toEqual({ news: [fetching, said("two")], milliseconds: 120_000 });
});

test("what is there already is not, and secrets are taken out of what it says", async () => {
  await using folder = await home();
  const script = join(folder.path, "bin/npx");
  const entry = { command: script.replace("npx", "other"), args: ["--token", "canary-4711"] };
  await folder.write("bin/other", (await readFile(script, "utf8")).replace('"$1"', '"$2"'));
  await chmod(join(folder.path, "bin/other"), 0o755);
  expect(await run(folder, entry)).toEqual({ news: [said("(hidden)")], milliseconds: 30_000 });
});

test("what the program of one client's connection prints is no news of the host's shared connection", async () => {
  await using folder = await home();
  const { path } = folder;
  await folder.write("home/.gemini/settings.json", { mcpServers: { s: { command: "npx", args: ["x"] } } });
  const at = join(path, "home");
  const env = { PATH: join(path, "bin"), HOME: at, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(path, "none") };
  const environment = { env, home: at, cwd: at, platform: process.platform };
  await using host = await createOpenedHost({ environment, recover: false });
  const news: string[] = [];
  host.on("fetching", ({ type }) => news.push(type));
  host.on("stderr", ({ type }) => news.push(type));
  await host.gateway.servers.get("s").other("one client", {}).startForClient();
  expect(news).toEqual([]);
  await host.start();
  expect(news).toContain("stderr");
});
