/**
 * Collects the facts of a bug report. If the user names a server, connects to this server once and logs the protocol
 * messages.
 */

import { readFile } from "node:fs/promises";
import { release } from "node:os";
import { createRedactor, type Redact } from "@fairlead/core/connect/redact";
import { logPath } from "@fairlead/core/connect/server-log";
import { unless } from "@fairlead/core/files/system-error";
import type { Host } from "@fairlead/core/host";
import { configuredSecrets } from "@fairlead/core/host/secrets";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust/configuration";
import { type ListedServer, serverDocument } from "../output/servers/server-state.ts";
import type { Context } from "../shell/verb.ts";
import { version } from "../shell/version.ts";
import { connectServers } from "../targets/connect-servers.ts";
import { useHost } from "../targets/with-host.ts";
import { readSettings, type SettingsOutline } from "./settings-outline.ts";
import { createWireSummary } from "./wire-summary.ts";

/** The parts of a bug report. The finished text must still go through `hide`. */
export interface BugReport {
  readonly created: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly trusted: boolean;
  readonly settings: readonly SettingsOutline[];
  /** Problems in the settings: only their place and code, because a message may quote a secret value. */
  readonly problems: readonly string[];
  readonly servers: readonly object[];
  /** The attempt to connect to the server that the user named. Absent if the user named no server. */
  readonly attempt?: Attempt;
  readonly logs: readonly { readonly server: string; readonly lines: readonly string[] }[];
}

interface Attempt {
  readonly server: string;
  readonly steps: readonly string[];
  readonly messages: readonly string[];
}

/** A bug report, and the function that hides its secrets. */
export interface Collected {
  readonly report: BugReport;
  /** Hides secrets in the finished text of the report. */
  readonly hide: Redact;
}

const mostLines = 40;
const mostMessages = 30;
const longestLine = 500;

/** Collects the facts. With `server`, connects to that server if it may start. */
export async function collectReport(
  configuration: Configuration,
  server: AdmittedServer | undefined,
  context: Context,
): Promise<Collected> {
  const { locations, environment, servers, trust, problems } = configuration;
  const settings = await readSettings(locations);
  const created = new Date().toISOString();
  const found = await observe(configuration, server, context);
  const names = new Set(servers.map((each) => each.server.name));
  const redact = createRedactor([
    ...(await configuredSecrets(configuration)),
    ...settings.values.filter((value) => !names.has(value)),
  ]);
  const { home } = environment;
  // A home folder "/" is not replaced by "~", because every path contains "/".
  const withoutHome: Redact = (text) => (home.length > 1 ? text.replaceAll(home, "~") : text);
  const hide: Redact = (text) => withoutHome(redact(found.hide(text)));
  const named = server === undefined ? servers : [server];
  const logs = await Promise.all(
    named.map(async ({ server: { name } }) => {
      const lines = await readLog(logPath(locations.state, name));
      // Leaves out messages of this command's own connection, which have their own section in the report.
      const isEarlier = (line: string): boolean => line < created || !isWire(line);
      return { server: name, lines: lines.filter(isEarlier).slice(-mostLines).map(summarised(hide)) };
    }),
  );
  return {
    hide,
    report: {
      created,
      versions: {
        fairlead: version(),
        node: process.version,
        system: `${environment.platform} ${release()} ${process.arch}`,
      },
      trusted: trust.trusted,
      settings: settings.outlines,
      problems: problems.map(({ severity, code, serverName, origin }) =>
        [severity, code, serverName ?? "", origin === undefined ? "" : `${origin.file}:${origin.line}`]
          .join(" ")
          .trim(),
      ),
      servers: found.listed.map(serverDocument),
      attempt: server && (await attemptOf(server, created, { steps: found.steps, hide }, locations.state)),
      logs: logs.filter(({ lines }) => lines.length > 0),
    },
  };
}

interface Observed {
  readonly listed: readonly ListedServer[];
  readonly steps: readonly string[];
  readonly hide: Redact;
}

/** Returns the states of all servers. Connects only to the server that the user named. */
function observe(
  configuration: Configuration,
  server: AdmittedServer | undefined,
  context: Context,
): Promise<Observed> {
  const name = server?.server.name;
  const steps: string[] = [];
  let hide: Redact = (text) => text;
  const look = async (host: Host): Promise<Observed> => {
    const [cached, failed] = await Promise.all([host.recall(), host.failedStarts()]);
    if (server?.admission.status === "admitted") await connectServers(host, [server.server.name], context);
    const listed = configuration.servers.flatMap((each): ListedServer[] => {
      const state = host.states().find((one) => one.name === each.server.name);
      const isOf = ({ server: other }: { readonly server: string }): boolean => other === each.server.name;
      return state === undefined
        ? []
        : [{ server: each.server, state, cachedCatalog: cached.find(isOf), failed: failed.find(isOf) }];
    });
    return { listed, steps, hide };
  };
  const globals = { ...context.globals, debug: name ?? context.globals.debug };
  return useHost(configuration, { ...context, globals }, look, {
    observe(_name, step) {
      if (step.step === "definition") hide = step.redact;
      const words = step.step === "list" ? `${step.step} ${step.method}: ${step.items} items` : step.step;
      steps.push(`${words}, ${Math.round(step.milliseconds)} ms`);
    },
  });
}

async function attemptOf(
  { server }: AdmittedServer,
  since: string,
  { steps, hide }: Pick<Observed, "steps" | "hide">,
  state: string,
): Promise<Attempt> {
  const lines = (await readLog(logPath(state, server.name))).filter((line) => line >= since && isWire(line));
  return { server: server.name, steps, messages: lines.map(summarised(hide)).slice(-mostMessages) };
}

async function readLog(path: string): Promise<readonly string[]> {
  const text = await readFile(path, "utf8").catch(unless("ENOENT"));
  return (text ?? "").split("\n").filter((line) => line !== "");
}

function isWire(line: string): boolean {
  return /^\S+ wire /.test(line);
}

/** Returns a function for log lines: hides secrets, replaces protocol messages by summaries, and cuts long lines. */
function summarised(hide: Redact): (logged: string) => string {
  const summary = createWireSummary();
  return (logged) => {
    const line = hide(logged);
    if (!isWire(line)) return line.slice(0, longestLine);
    const [time = "", kind = "", ...message] = line.split(" ");
    return `${time} ${kind} ${summary(message.join(" "))}`.slice(0, longestLine);
  };
}
