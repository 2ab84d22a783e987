/** A host with two servers: an odd one, and a well-behaved one that must not notice anything of the other. */

import { processesWith, stdioServer, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { expect } from "vitest";
import { createHost, type Host, type ServerState } from "../../src/index.ts";

export interface Beside {
  readonly host: Host;
  readonly folder: TemporaryFolder;
  /** Where the odd server stands, leaving aside since when; the folder's path is written `/here`. */
  readonly state: () => object;
}

export interface BesideOptions {
  /** Added to the environment that the host takes for its own. */
  readonly env?: Readonly<Record<string, string>>;
  /** Called while servers are being connected; before `look`. */
  readonly meanwhile?: (at: Beside) => Promise<void>;
}

/** `entry` is the odd server's, under the name `odd`; `look` is called when every server has answered or failed. */
export async function beside(
  entry: object | ((folder: TemporaryFolder) => object),
  look: (at: Beside) => void | Promise<void>,
  { env = {}, meanwhile }: BesideOptions = {},
): Promise<void> {
  await using folder = await temporaryFolder();
  const odd = typeof entry === "function" ? entry(folder) : entry;
  const host = await hostOf(folder, { odd, good: stdioServer("well-behaved") }, env);
  const ofGood: string[] = [];
  const at: Beside = { host, folder, state: () => stateOf(host, "odd", { [folder.path]: "/here" }) };
  try {
    host.on("state", ({ state }) => void (state.name === "good" && ofGood.push(state.status)));
    const started = host.start();
    await meanwhile?.(at);
    await started;
    await look(at);
    await answers(host, "good");
    expect(host.tools("good").map(({ serverToolName }) => serverToolName)).toEqual(["echo"]);
    expect(ofGood).toEqual(["connecting", "connected", "connected"]);
  } finally {
    await host[Symbol.asyncDispose]();
  }
  expect(processesOf(folder)).toEqual([]);
}

/** A host that lives in a folder and has these servers in its user's settings. */
export async function hostOf(
  folder: TemporaryFolder,
  mcpServers: Readonly<Record<string, object>>,
  env: Readonly<Record<string, string>> = {},
): Promise<Host> {
  await folder.write("home/.gemini/settings.json", { mcpServers });
  await folder.write("work/.gemini/settings.json", {});
  const home = `${folder.path}/home`;
  const noSystem = { GEMINI_CLI_SYSTEM_SETTINGS_PATH: `${folder.path}/none` };
  return createHost({
    // What a server does to itself is looked at, not what is done about it.
    recover: false,
    environment: {
      env: { PATH: process.env["PATH"], HOME: home, ...noSystem, ...env },
      home,
      cwd: `${folder.path}/work`,
      platform: process.platform,
    },
  });
}

/** What is left of the servers of that host: all that it starts has its home in the environment. */
export function processesOf(folder: TemporaryFolder): readonly string[] {
  return processesWith(`HOME=${folder.path}/home`);
}

/** Without what differs from run to run: `words` says what stands for a text of this run. */
export function stateOf(host: Host, wanted: string, words: Readonly<Record<string, string>> = {}): object {
  const { name: _name, since: _since, ...state } = host.states().find(({ name }) => name === wanted) as ServerState;
  const text = Object.entries(words).reduce((said, [from, to]) => said.replaceAll(from, to), JSON.stringify(state));
  return JSON.parse(text) as object;
}

/** Whether a server's tool, `echo`, does its work. */
export async function answers(host: Host, server: string): Promise<void> {
  const { content, isError } = await host.call(server, "echo", { text: "here" });
  expect({ content, isError }).toEqual({ content: [{ type: "text", text: "here" }], isError: false });
}

/** Resolves when a server is connected and what it offers has been read. */
export function ready(host: Host, wanted: string): Promise<void> {
  return new Promise((resolve) => {
    const isReady = (state: ServerState): boolean =>
      state.name === wanted && state.status === "connected" && state.offer !== undefined;
    const stop = host.on("state", ({ state }) => {
      if (!isReady(state)) return;
      stop();
      resolve();
    });
    if (host.states().some(isReady)) resolve();
  });
}
