/** Controls servers: starts, stops, enables and approves them, and reads their logs. Their states arrive as events. */

import { readFile } from "node:fs/promises";
import { logPath } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import { unless } from "@fairlead/core/files";
import type { OpenedHost } from "@fairlead/core/host";
import type { Server } from "@fairlead/core/server";
import { enableServer } from "@fairlead/core/trust";
import type { ServerCommands } from "../../protocol/servers.ts";
import { aCount, aSwitch, aText, type Handlers, optional, texts } from "./parameters.ts";
import type { ServerRows } from "./server-rows.ts";

const usualLines = 200;
const mostLines = 5000;

interface ServerCommandsOptions {
  readonly host: OpenedHost;
  readonly rows: ServerRows;
  /** Tells the person of an error of work that has begun. */
  readonly fail: (error: unknown) => void;
}

type Done = Record<string, never>;
const done: Done = {};

export function serverCommands({
  host,
  rows,
  fail,
}: ServerCommandsOptions): Handlers<
  Omit<ServerCommands, "servers/show" | "servers/signIn" | "servers/accept" | "servers/test">
> {
  const { servers } = host.gateway;

  /** Begins work on these servers. What becomes of it is in their states. */
  function begin(names: readonly string[], work: (server: Server) => Promise<unknown>): Done {
    // All names are checked before anything begins.
    for (const server of names.map((name) => servers.get(name))) work(server).catch(fail);
    return done;
  }

  return {
    "servers/log": {
      takes: { server: aText, lines: optional(aCount(mostLines)) },
      async run({ server, lines = usualLines }) {
        servers.get(server);
        const file = logPath(host.configuration.locations.state, server);
        const [earlier, latest] = await Promise.all([readLines(`${file}.1`), readLines(file)]);
        return { file, lines: [...earlier, ...latest].slice(-lines) };
      },
    },
    "servers/start": {
      takes: { servers: texts },
      run: ({ servers: names }) => begin(names, ({ name }) => host.start({ servers: [name] })),
    },
    "servers/restart": {
      takes: { servers: texts },
      run: ({ servers: names }) => begin(names, (server) => server.restart()),
    },
    "servers/stop": {
      takes: { servers: texts },
      run: ({ servers: names }) => begin(names, (server) => server.stop()),
    },
    "servers/refresh": {
      takes: { server: aText },
      run: ({ server }) => begin([server], ({ name }) => host.refresh(name)),
    },
    "servers/enable": {
      takes: { server: aText, isEnabled: aSwitch },
      async run({ server, isEnabled }) {
        servers.get(server);
        const load = async () => {
          await host.reload();
          return host.configuration;
        };
        const { stillOff } = await host.changeSettings(() =>
          enableServer(server, isEnabled, { before: load, after: load }),
        );
        rows.touch(server);
        if (stillOff === undefined) return done;
        const { file, line } = stillOff;
        throw new HostError("denied", `"${server}" is still disabled: ${file}:${line} disables it`, {
          serverName: server,
          next: `edit ${file}:${line}`,
        });
      },
    },
    "servers/approve": {
      takes: { server: aText },
      async run({ server }) {
        await host.approve([server]);
        return done;
      },
    },
  };
}

async function readLines(file: string): Promise<readonly string[]> {
  const text = (await readFile(file, "utf8").catch(unless("ENOENT"))) ?? "";
  return text.split("\n").filter((line) => line !== "");
}
