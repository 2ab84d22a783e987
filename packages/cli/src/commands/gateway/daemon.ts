/** `fairlead daemon`: shows, starts, stops and restarts the background host, and shows its log. */

import { HostError } from "@fairlead/core/errors";
import { isProcessRunning, lockHolder, systemCode } from "@fairlead/core/files";
import { joinSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { hostStatus, stopHost } from "@fairlead/gateway/daemon/control";
import { type RunFolder, UnsafeRunFolder } from "@fairlead/gateway/relay/run-folder";
import { findOrStartHost, type HostCommand } from "@fairlead/gateway/relay/start-host";
import { errorMessage } from "@fairlead/wire/text";
import { type HostPlace, hostPlace } from "../../gateway/installation.ts";
import { count } from "../../output/output.ts";
import { defineLogOptions, printLog, readLogLines, readLogOptions } from "../../shell/log-lines.ts";
import type { Context, Verb } from "../../shell/verb.ts";

const about = `
All programs that use fairlead serve on stdio share one background host, with one set of servers, and so do commands
such as fairlead call. The first program or command starts the host. The host ends ten minutes after the last program
has disconnected. Connected programs do not notice a restart.
`;

const status: Verb = {
  help: `${about}
Servers get PATH and similar variables from the program that started the host. If a server's command is not on that
PATH, run fairlead daemon restart in a terminal whose PATH has the command.

Examples:
  fairlead daemon status
  fairlead daemon status --json`,

  async run(context) {
    const { out, globals } = context;
    const { folder } = placeOf(context);
    const host = await explained(() => hostStatus(folder));
    if (globals.json) return out.json({ running: host !== undefined, ...(host ?? { clients: [], servers: [] }) });
    if (host === undefined) {
      const holder = await lockHolder(folder.hostLock);
      return out.show(
        holder === undefined ? safe`not running` : safe`not ready: process ${holder} is starting or ending`,
      );
    }
    const { pid, version, clients, servers, path } = host;
    out.print(safe`running: process ${pid}, version ${toSafeLine(version)}`);
    out.print(
      named(
        "clients",
        clients.map(({ name }) => toSafeLine(name)),
      ),
    );
    out.print(
      named(
        "servers",
        servers.map((server) => safe`${toSafeLine(server.name)} ${toSafeLine(server.status)}`),
      ),
    );
    if (path !== undefined) out.print(safe`PATH: ${toSafeLine(path)}`);
  },
};

function named(title: string, texts: readonly SafeText[]): SafeText {
  const list = texts.length === 0 ? safe`none` : joinSafe(texts, safe`, `);
  return safe`${toSafeLine(title)}: ${list}`;
}

const start: Verb = {
  help: `${about}
On a terminal, fairlead call and similar commands start the host by themselves. It keeps servers running between
commands, unless the setting fairlead.background is "off".

Examples:
  fairlead daemon start`,

  async run(context) {
    const { out, globals } = context;
    const { folder, version, command } = placeOf(context);
    const running = await explained(() => hostStatus(folder));
    const pid = running?.pid ?? (await explained(() => startHost(folder, version, command)));
    if (globals.json) return out.json({ pid, version: running?.version ?? version, started: running === undefined });
    out.print(safe`${toSafeLine(running === undefined ? "started" : "already running")}: process ${pid}`);
  },
};

/** Resolves with the process id of the host. */
async function startHost(folder: RunFolder, version: string, command: HostCommand): Promise<number> {
  const { socket, welcome } = await findOrStartHost(folder, { version, wants: "status" }, command);
  socket.destroy();
  return welcome.pid;
}

const stop: Verb = {
  help: `${about}
Running calls are cancelled. The next request of a program that is still connected starts the host again.

Examples:
  fairlead daemon stop`,

  async run(context) {
    const { out, globals } = context;
    const { folder } = placeOf(context);
    const pid = await explained(() => stopHost(folder, { isRunning: isProcessRunning, kill }));
    if (globals.json) return out.json({ stopped: pid !== undefined, pid });
    out.print(pid === undefined ? safe`not running` : safe`stopped: process ${pid}`);
  },
};

const restart: Verb = {
  help: `${about}
The host reads changed settings by itself. Restart it if it does not answer, or if its servers need the PATH of this
terminal.

Examples:
  fairlead daemon restart`,

  async run(context) {
    const { out, globals } = context;
    const { folder, version, command } = placeOf(context);
    const stopped = await explained(() => stopHost(folder, { isRunning: isProcessRunning, kill }));
    const pid = await explained(() => startHost(folder, version, command));
    if (globals.json) return out.json({ pid, version });
    out.print(safe`${toSafeLine(stopped === undefined ? "started" : "restarted")}: process ${pid}`);
  },
};

const logs: Verb = {
  help: `
Shows when the background host started and ended, and its errors. The log of a server: fairlead mcp logs NAME

Examples:
  fairlead daemon logs
  fairlead daemon logs -f
  fairlead daemon logs --since 1h`,

  define: (command) => defineLogOptions(command, "only lines that match this regular expression"),

  async run(context) {
    const { out, globals } = context;
    const view = readLogOptions(context);
    const { log: path } = placeOf(context).folder;
    if (view.onlyPath) return globals.json ? out.json({ path }) : out.print(toSafeLine(path));
    const earlier = (await readLogLines(`${path}.1`)) ?? [];
    const last = view.follow ? [] : await readLogLines(path);
    const lines = [...earlier, ...(last ?? [])].filter(view.isWanted);
    if (globals.json) return out.json({ path, lines });
    await printLog(lines, path, view, context);
    if (lines.length === 0) out.say(safe`${count(0, "line")} in ${toSafeLine(path)}`);
  },
};

/** The subcommands of `fairlead daemon`. */
export const verbs: Readonly<Record<"status" | "start" | "stop" | "restart" | "logs", Verb>> = {
  status,
  start,
  stop,
  restart,
  logs,
};

/** @throws HostError `usage` */
function placeOf({ io }: Pick<Context, "io">): HostPlace {
  const backgroundHost = hostPlace(io);
  if (backgroundHost !== undefined) return backgroundHost;
  throw new HostError(
    "usage",
    "the background host cannot be found: FAIRLEAD_HOME is not absolute, or Fairlead's program files are missing",
    { next: "set FAIRLEAD_HOME to an absolute path, or install Fairlead again" },
  );
}

/** @throws HostError `unreachable` */
async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const next = cause instanceof UnsafeRunFolder ? cause.next : "fairlead daemon logs";
    throw new HostError("unreachable", errorMessage(cause), { cause, next });
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It has ended meanwhile.
    if (systemCode(error) !== "ESRCH") throw error;
  }
}
