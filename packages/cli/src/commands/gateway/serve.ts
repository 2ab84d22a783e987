/** `fairlead serve`: makes the configured servers available to other MCP clients, on stdio or over HTTP. */

import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { safe } from "@fairlead/core/text/safe-text";
import { refuseNested } from "@fairlead/core/trust";
import { admitByToken, admitEverybody } from "@fairlead/gateway/admission";
import { listenInBackground } from "@fairlead/gateway/command/background-session";
import type { ListenRequest } from "@fairlead/gateway/command/session-messages";
import type { HostConnection } from "@fairlead/gateway/relay/connect-host";
import type { RelayClient } from "@fairlead/gateway/relay/speech";
import { createClientTokens } from "@fairlead/gateway/tokens/client-tokens";
import { openClientStdio } from "@fairlead/wire/serve";
import { reachHost } from "../../gateway/background.ts";
import { openOwnGateway } from "../../gateway/open-gateway.ts";
import { aloneMessage, listIn, relayToHost, unnamedClient, watchParent } from "../../gateway/run-relay.ts";
import { configurationOf } from "../../shell/configuration.ts";
import {
  checkHttpOptions,
  defineHttpOptions,
  type ListenOptions,
  orPortError,
  toPort,
  untilStopped,
} from "../../shell/http-server.ts";
import { type Context, usageError, type Verb } from "../../shell/verb.ts";

interface Options extends ListenOptions {
  readonly servers?: string;
  readonly tools?: string;
  readonly client?: string;
  readonly alone?: boolean;
  readonly team?: boolean;
  readonly token: boolean;
}

export const verb: Verb = {
  isLasting: () => true,
  help: `
A program that speaks MCP starts this command, or connects to it over HTTP, and gets the tools, prompts and resources of
all servers in your settings, through your rules. All programs together use one background host and one set of servers;
a server starts with the first request to it. To add Fairlead to a program's settings: fairlead connect

On stdio, this command passes messages on to the background host (fairlead daemon status), and starts it if none runs.
With --http the background host listens on the loopback address; this command prints one line of JSON {"url","pid"} when it is
ready, and runs until Ctrl-C: /mcp has all servers, /mcp/NAME one of them, with its own names. Clients need the token that
fairlead connect --http makes for them.

With --team it is one of the replicas of the gateway of a company: people sign in with the tokens of their identity provider,
and PostgreSQL keeps what the replicas share. Its settings are fairlead.team in the system settings file (docs/team.md).

The background host sends spans and metrics where its own environment says: the one that it was started with (docs/telemetry.md).

Examples:
  fairlead serve
  fairlead serve --client cursor --servers github,files
  fairlead serve --http --port 4100`,

  define(command) {
    command
      .option("--client <name>", 'the program that uses fairlead serve, for rules with client = "…" and the history')
      .option("--servers <names>", "offer only these servers, separated by commas")
      .option("--tools <patterns>", "offer only these tools, as SERVER.TOOL, separated by commas; * matches any text")
      .option("--alone", "start the servers in this process, without the background host");
    defineHttpOptions(command);
    command.option("--team", "serve the people of a team over HTTP, as the system settings fairlead.team say");
    command.option("--no-token", "with --http, for tests: let every program on this machine connect without a token");
  },

  async run(context) {
    refuseNested(context.io.env);
    const { http = false, alone = false, team = false, token, ...options } = context.command.opts<Options>();
    if (team) {
      const { port, servers, tools, client } = options;
      const others = { http, alone, "no-token": !token, port, servers, tools, client };
      const [other] = Object.entries(others).find(([, value]) => value !== undefined && value !== false) ?? [];
      if (other !== undefined)
        throw usageError(`--${other} does not work with --team: its settings are in fairlead.team`, context);
      const { serveTeam } = await import("../../gateway/serve-team.ts");
      return serveTeam(context);
    }
    checkHttpOptions({ http, ...options }, context);
    if (!token && !http) throw usageError("--no-token works only with --http", context);
    const { io, globals } = context;
    const isAlone = alone || globals.debug !== false;
    const client = clientOf(options, context);
    if (http) return serveHttp(client, { ...options, token, alone: isAlone }, context);
    const problem = isAlone ? "asked" : await relayToHost(client, io, io);
    if (problem === undefined) return;
    if (problem !== "asked") io.stderr.write(aloneMessage(problem));
    await serveAlone(client, context);
  },
};

function clientOf(
  { client: name = unnamedClient, servers, tools }: Partial<Options>,
  { io, globals }: Context,
): RelayClient {
  const { root, settings, workspace, trustWorkspace } = globals;
  return {
    name,
    servers: servers === undefined ? undefined : listIn(servers),
    tools: tools === undefined ? undefined : listIn(tools),
    cwd: io.cwd,
    env: io.env,
    workspace,
    trustWorkspace,
    root: root === undefined ? undefined : resolve(io.cwd, root),
    settings: settings === undefined ? undefined : resolve(io.cwd, settings),
  };
}

async function serveAlone(client: RelayClient, context: Context): Promise<void> {
  const { io } = context;
  const { gateway, workspace } = await openOwnGateway(context);
  const { name, servers, tools } = client;
  const parent = watchParent(io.stdin);
  const signal = AbortSignal.any([io.signal, parent.signal]);
  const ended = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  try {
    const served = gateway.serve(
      openClientStdio({ input: io.stdin, output: io.stdout }, { lastAnswers: Number.POSITIVE_INFINITY }),
      { name, conversation: randomUUID(), servers, tools },
      workspace,
    );
    await Promise.race([served, ended]);
  } finally {
    parent.stop();
    await gateway[Symbol.asyncDispose]();
  }
}

async function serveHttp(
  client: RelayClient,
  { port, token, alone }: Partial<Options>,
  context: Context,
): Promise<void> {
  const { name, servers, tools } = client;
  const wanted: ListenRequest = {
    port: toPort(port, context),
    hasTokens: token !== false,
    client: { name, servers, tools },
  };
  if (!wanted.hasTokens) context.out.warn(safe`warning: no token: every program on this machine can use your servers`);
  if (alone === true || !(await serveHttpInBackground(wanted, context))) await serveHttpAlone(wanted, context);
}

/** The background host listens. Returns false if it cannot be used. */
async function serveHttpInBackground(wanted: ListenRequest, context: Context): Promise<boolean> {
  const configuration = await configurationOf(context);
  const reach = (): Promise<HostConnection | undefined> => reachHost(configuration, () => {}, context);
  const host = await reach();
  if (host === undefined) return false;
  let listener = await orPortError(listenInBackground(host, wanted), String(wanted.port));
  const { url } = listener;
  const stopped = untilStopped(listener, context).then(() => "stopped" as const);
  while ((await Promise.race([stopped, listener.closed])) !== "stopped") {
    // The host has ended. The clients of this address get a new host at the same address.
    const next = await reach();
    if (next === undefined) throw new HostError("unreachable", `the background host has ended, and ${url} with it`);
    listener = await listenInBackground(next, { ...wanted, port: Number(new URL(url).port) });
  }
  await listener.close();
  return true;
}

async function serveHttpAlone(wanted: ListenRequest, context: Context): Promise<void> {
  const { gateway, workspace, state } = await openOwnGateway(context);
  const admit = wanted.hasTokens
    ? admitByToken(createClientTokens(state), workspace, wanted.client)
    : admitEverybody(wanted.client, workspace);
  try {
    const listening = gateway.listen({ port: wanted.port, admit, workspace });
    const listener = await orPortError(listening, String(wanted.port));
    await untilStopped(listener, context);
  } finally {
    await gateway[Symbol.asyncDispose]();
  }
}
