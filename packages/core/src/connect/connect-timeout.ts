/** How long connecting to a server may take. */

import type { ServerDefinition, Transport } from "../settings/define/definition.ts";
import type { ConnectTimeout } from "./connect-step.ts";

/** These may have to fetch the server before they can start it. */
const launchers: ReadonlySet<string> = new Set("npx bunx pnpx uvx pipx docker podman nerdctl".split(" "));
const launcherVerbs: ReadonlySet<string> = new Set([
  "npm exec",
  "npm x",
  "pnpm dlx",
  "yarn dlx",
  "bun x",
  "uv run",
  "uv tool",
  "deno run",
]);
const fetchingFactor = 4;

export interface ConnectTimeoutOptions {
  /** `fairlead.connectTimeout`, in milliseconds. */
  readonly connectTimeout: number;
  /** It has never been connected to from here, as it stands: what it needs may still have to be fetched. */
  readonly isFirstRun: boolean;
}

export function connectTimeoutFor(
  { timeout }: Pick<ServerDefinition, "timeout">,
  transport: Transport,
  { connectTimeout, isFirstRun }: ConnectTimeoutOptions,
): ConnectTimeout {
  const allowed = isFirstRun && isLaunched(transport) ? connectTimeout * fetchingFactor : connectTimeout;
  return timeout < allowed
    ? { milliseconds: timeout, setting: "timeout" }
    : { milliseconds: allowed, setting: "fairlead.connectTimeout" };
}

/** Whether it is started by a program that downloads what it does not have. */
export function isLaunched(transport: Transport): boolean {
  if (transport.kind !== "stdio") return false;
  const words = [transport.command, ...transport.args];
  // The usual way on Windows: `cmd /c npx …`.
  if (programName(words[0]) === "cmd" && /^\/c$/i.test(words[1] ?? "")) words.splice(0, 2);
  const name = programName(words[0]);
  return launchers.has(name) || launcherVerbs.has(`${name} ${words[1] ?? ""}`);
}

function programName(command = ""): string {
  const name = command.split(/[/\\]/).at(-1) ?? "";
  return name.toLowerCase().replace(/\.(cmd|exe|bat|ps1)$/, "");
}
