/** Controls servers: starts, stops, enables and approves them, and reads their logs. Their states arrive as events. */

import { readFile } from "node:fs/promises";
import { logPath } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import { unless } from "@fairlead/core/files";
import type { OpenedHost } from "@fairlead/core/host";
import type { Server } from "@fairlead/core/server";
import { enableServer } from "@fairlead/core/trust";
import type { ServerCommands } from "../../protocol/servers.ts";
import { aCount, anObject, aSwitch, aText, type Handlers, listOf, optional, texts } from "./parameters.ts";
import type { Questions } from "./questions.ts";
import { showServer, testServer } from "./server-details.ts";
import type { ServerRows } from "./server-rows.ts";
import { checkMaySignIn, signIn } from "./sign-in.ts";

const usualLines = 200;
const mostLines = 5000;

interface ServerCommandsOptions {
  readonly host: OpenedHost;
  readonly rows: ServerRows;
  readonly questions: Questions;
  /** Tells the person about work that has begun. */
  readonly note: (text: string) => void;
  /** Tells the person of an error of work that has begun. */
  readonly fail: (error: unknown) => void;
}

type Done = Record<string, never>;
const done: Done = {};

export function serverCommands({ host, rows, questions, note, fail }: ServerCommandsOptions): Handlers<ServerCommands> {
  const { servers } = host.gateway;
  /** The servers that a person signs in to now. */
  const signingIn = new Set<string>();

  /** Begins work on these servers. What becomes of it is in their states. */
  function begin(names: readonly string[], work: (server: Server) => Promise<unknown>): Done {
    // All names are checked before anything begins.
    for (const server of names.map((name) => servers.get(name))) work(server).catch(fail);
    return done;
  }

  return {
    "servers/show": {
      takes: { server: aText },
      run: ({ server }) => showServer(host, server),
    },
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
      takes: { server: aText, fingerprint: aText },
      async run({ server, fingerprint }) {
        const found = host.configuration.servers.find((each) => each.server.name === server);
        if (found?.server.definition?.fingerprint !== fingerprint)
          throw new HostError("changed", `"${server}" not approved: its definition has changed`, {
            serverName: server,
          });
        await host.approve([server]);
        return done;
      },
    },
    "servers/allowHost": {
      takes: { server: aText, host: aText, fingerprint: aText },
      async run({ server, host: name, fingerprint }) {
        await host.allowHost(server, name, fingerprint);
        return done;
      },
    },
    "servers/signIn": {
      takes: { server: aText },
      run({ server: name }, { signal }) {
        const server = servers.get(name);
        checkMaySignIn(server);
        if (signingIn.has(name)) return done;
        signingIn.add(name);
        signIn(server, { host, questions, note, signal })
          .catch(fail)
          .finally(() => signingIn.delete(name));
        return done;
      },
    },
    "servers/accept": {
      takes: { server: aText, tools: definitions },
      async run({ server, tools }) {
        for (const { name, digest } of tools) await host.accept(server, name, digest);
        rows.touch(server);
        return done;
      },
    },
    "servers/test": {
      takes: { server: aText },
      run: ({ server }, { signal }) => {
        servers.get(server);
        return testServer(host, server, signal);
      },
    },
  };
}

const definitions = listOf((value, name) => {
  const given = anObject(value, name);
  return { name: aText(given["name"], `${name}.name`), digest: aText(given["digest"], `${name}.digest`) };
});

async function readLines(file: string): Promise<readonly string[]> {
  const text = (await readFile(file, "utf8").catch(unless("ENOENT"))) ?? "";
  return text.split("\n").filter((line) => line !== "");
}
