/**
 * Starts the processes of the run: the server for the suite, over HTTP, and the gateway in front of its other forms.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const fromHere = (path) => fileURLToPath(new URL(path, import.meta.url));
export const command = fromHere("../../packages/cli/bin/fairlead.cjs");
const program = fromHere("../../packages/test-servers/src/programs/conformance.mjs");

/** Starts the server for the suite. */
export async function startServer() {
  const { line, stop } = await start([program, "--http"], process.env);
  return { url: line, stop };
}

/**
 * Starts a gateway. Its servers: `stdio` supports both eras, `http` is the server at the address, `legacy` and `modern`
 * support one era. A rule file allows everything that the suite does, because the suite cannot confirm requests.
 * @param names The servers that the gateway has. Default: all.
 */
export async function startGateway(serverUrl, names) {
  const home = await mkdtemp(join(tmpdir(), "conformance-gateway-"));
  const entry = (...args) => ({ command: process.execPath, args: [program, ...args] });
  const all = {
    stdio: entry(),
    http: { httpUrl: serverUrl },
    legacy: entry("--legacy-only"),
    modern: entry("--modern-only"),
  };
  const mcpServers = Object.fromEntries(Object.entries(all).filter(([name]) => names?.includes(name) ?? true));
  // Without this setting, no server gets the roots of a client. It also gives each client its own legacy server.
  const servers = Object.fromEntries(Object.keys(mcpServers).map((name) => [name, { roots: true }]));
  const settings = { mcpServers, fairlead: { servers } };
  await mkdir(join(home, ".gemini", "policies"), { recursive: true });
  await writeFile(join(home, ".gemini", "settings.json"), JSON.stringify(settings));
  await writeFile(join(home, ".gemini", "policies", "conformance.toml"), rules(Object.keys(mcpServers)));
  const { PATH, TMPDIR = tmpdir() } = process.env;
  const none = join(home, "none.json");
  const env = {
    PATH,
    TMPDIR,
    HOME: home,
    USERPROFILE: home,
    FAIRLEAD_HOME: join(home, ".fairlead"),
    FAIRLEAD_SECRET_STORE: "file",
    FAIRLEAD_TRUST_WORKSPACE: "true",
    GEMINI_CLI_SYSTEM_SETTINGS_PATH: none,
    GEMINI_CLI_SYSTEM_DEFAULTS_PATH: none,
  };
  const args = ["-C", home, "serve", "--http", "--alone", "--port", "0", "--no-token"];
  const { line, stop } = await start([command, ...args], env, home);
  const { url } = JSON.parse(line);
  return {
    /** Returns the address of one server; without a name, the address of all servers together. */
    urlOf: (server) => (server === undefined ? url : `${url}/${server}`),
    async stop() {
      await stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** Rules that allow everything at these servers. */
export function rules(servers) {
  const rule = (server, kind) =>
    ["[[rule]]", `mcpName = "${server}"`, `kind = "${kind}"`, 'decision = "allow"', "priority = 500", ""].join("\n");
  const tools = (server) =>
    ["[[rule]]", `mcpName = "${server}"`, 'toolName = "*"', 'decision = "allow"', "priority = 500", ""].join("\n");
  return servers
    .flatMap((server) => [
      tools(server),
      ...["resource", "prompt", "sampling", "skill"].map((kind) => rule(server, kind)),
    ])
    .join("\n");
}

/** Resolves with the first line on stdout. */
export async function start(args, env, cwd) {
  const child = spawn(process.execPath, args, { env, cwd, stdio: ["pipe", "pipe", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (chunk) => (stderr = `${stderr}${chunk}`.slice(-10_000)));
  const closed = once(child, "close");
  const first = once(createInterface({ input: child.stdout }), "line");
  const failed = closed.then(([code]) => {
    throw new Error(`${args.join(" ")} ended with ${code} before it was ready\n${stderr}`);
  });
  const [line] = await Promise.race([first, failed]);
  failed.catch(() => {});
  const stop = async () => {
    child.stdin.end();
    child.kill("SIGTERM");
    await closed;
  };
  return { line, stop };
}
