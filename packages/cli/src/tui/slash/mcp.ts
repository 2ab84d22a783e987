/** `/mcp`: opens the panel of servers, or runs a subcommand such as `/mcp add`. */

import { HostError } from "@fairlead/core/errors";
import type { HostTool } from "@fairlead/core/host";
import { joinSafe, padSafe, type SafeText, safe, toSafeJson, toVisibleLine } from "@fairlead/core/text/safe-text";
import { serverText, stateWords, widestOf } from "../../output/servers/server-state.ts";
import { signedIn } from "../../sign-in/signed-in.ts";
import { readLogTail } from "../log-tail.ts";
import type { Services } from "../services.ts";
import { askIfWaiting } from "../session/begin.ts";
import { type ServerVerb, serverVerbs } from "../state/mcp-panel.ts";
import { lookFor, namedServer, type SlashCommand, serverNames, wordsOf } from "./command.ts";
import { toolListText } from "./tools.ts";
import { typedHere } from "./typed-here.ts";

type Run = (words: readonly string[], services: Services) => void | Promise<void>;

const logLines = 40;
const deviceOption = "--device";

const summaries: Readonly<Record<ServerVerb, string>> = {
  start: "connect to a server",
  stop: "stop a server until it is needed again",
  restart: "stop a server and start it again",
  enable: "allow a server to start",
  disable: "stop a server and do not start it again",
  auth: "sign in to a server",
  test: "test the connection to a server",
};

const own: ReadonlyMap<string, { readonly summary: string; readonly run: Run }> = new Map([
  ["list", { summary: "show the state of each server", run: list }],
  ["desc", { summary: "show the descriptions of tools", run: describe }],
  ["schema", { summary: "show the input schemas of tools", run: schema }],
  ["logs", { summary: "show the end of a server's log", run: logs }],
  ["reload", { summary: "reload the settings", run: (_words, { servers }) => servers.reload() }],
  ...serverVerbs.map((verb) => [verb, { summary: summaries[verb], run: doTo(verb) }] as const),
]);

/**
 * Subcommands that run the `fairlead mcp` command of the same name. After those that change the settings, the app reloads
 * them.
 */
const passedOn: ReadonlyMap<string, string> = new Map([
  ["search", "find servers in MCP registries"],
  ["add", "add a server to the settings"],
  ["remove", "remove a server from the settings"],
  ["import", "import servers from other programs"],
  ["get", "show one server in full"],
  ["logout", "sign out and delete the stored tokens"],
  ["pin", "write the exact version of a server into the settings"],
]);

const reading: ReadonlySet<string> = new Set(["get", "search"]);

/** The command `/mcp`. In plain mode, which has no panel, it lists the servers. */
export const mcp: SlashCommand = {
  name: "mcp",
  summary: "list and manage servers",
  usage: `[${[...own.keys(), ...passedOn.keys()].join("|")}] [SERVER]`,
  complete([verb, ...names], services) {
    if (verb === undefined)
      return [
        ...[...own].map(([value, { summary }]) => ({ value, about: summary })),
        ...[...passedOn].map(([value, about]) => ({ value, about })),
      ];
    if (verb === "auth" && names.length === 1)
      return [{ value: deviceOption, about: "sign in with a code on another device" }];
    return names.length === 0 && verb !== "reload" && verb !== "add" && verb !== "search" ? serverNames(services) : [];
  },
  async run(line, services) {
    const [verb, ...words] = wordsOf(line);
    if (verb === undefined) return services.openPanel === undefined ? list([], services) : services.openPanel();
    const found = own.get(verb);
    if (found !== undefined) return found.run(words, services);
    if (!passedOn.has(verb))
      throw new HostError("usage", `unknown command "/mcp ${verb}"`, { next: `/mcp ${mcp.usage}` });
    const { host } = services.session;
    const before = new Set(host.states().map(({ name }) => name));
    const run = (): Promise<string> => services.runVerb("mcp", verb, ...words);
    services.session.show(`/mcp ${verb}`, await (reading.has(verb) ? run() : host.changeSettings(run)));
    if (verb === "add" || verb === "import") await askIfWaiting(services);
    // Starts added servers in the background.
    host.start().catch(services.session.fail);
    const added = host.states().flatMap(({ name }) => (before.has(name) ? [] : name));
    if (verb !== "add" || added.length === 0) return;
    const { offerSteps } = await import("../session/offer-steps.ts");
    await offerSteps(added, services);
  },
};

async function list(words: readonly string[], services: Services): Promise<void> {
  const isOption = (word: string): boolean => word === "-v" || word === "--verbose";
  const names = words.filter((word) => !isOption(word)).map((word) => services.servers.stateOf(word).name);
  const verbose = words.some(isOption) || names.length > 0;
  const title = ["/mcp list", ...(verbose && names.length === 0 ? ["-v"] : []), ...names].join(" ");
  services.session.show(title, await serverListText(services, verbose, names));
}

function describe([name = ""]: readonly string[], services: Services): void {
  services.session.show("/mcp desc", toolListText(namedServer(name, services), true, services));
}

function schema([name = ""]: readonly string[], services: Services): void {
  services.session.show("/mcp schema", schemaText(services.session.host.tools(namedServer(name, services))));
}

async function logs([name = ""]: readonly string[], services: Services): Promise<void> {
  const { name: server } = services.servers.stateOf(name);
  const text = await readLogTail(services.session.host.configuration.locations.state, server, logLines);
  services.session.show(`/mcp logs ${server}`, text === "" ? "The log is empty." : text);
}

function doTo(verb: ServerVerb): Run {
  return async (words, { session, servers, runVerb }) => {
    const device = verb === "auth" && words.includes(deviceOption);
    const [name] = device ? words.filter((word) => word !== deviceOption) : words;
    if (name !== undefined) return verb === "auth" ? servers.auth(name, { device }) : servers[verb](name);
    // Without a server name, `fairlead mcp auth` lists which servers the user is signed in to.
    if (verb === "auth" && !device) return session.show("/mcp auth", await runVerb("mcp", "auth"));
    throw new HostError("usage", `/mcp ${verb} needs a server name`, {
      next: `/mcp ${verb} NAME${device ? ` ${deviceOption}` : ""}`,
    });
  };
}

/** `names`: the servers to list. Empty: all servers. */
async function serverListText(services: Services, verbose: boolean, names: readonly string[]): Promise<string> {
  const { host } = services.session;
  const { configuration } = host;
  const [cached, signIns] = await Promise.all([host.recall(), signedIn(configuration)]);
  const states = host.states().filter(({ name }) => names.length === 0 || names.includes(name));
  const widestName = widestOf(states.map(({ name }) => name));
  const texts = states.map((state) => {
    const server = configuration.servers.find((each) => each.server.name === state.name)?.server;
    const cachedCatalog = cached.find((each) => each.server === state.name);
    if (server === undefined)
      return safe`${padSafe(toVisibleLine(state.name), verbose ? 0 : widestName)}  ${stateWords(state)}; built in`;
    return serverText(
      { server, state, cachedCatalog, signIn: signIns.get(state.name) },
      { ...lookFor(services), typed: asItIs, verbose, showsSharing: false, widestName },
    );
  });
  return typedHere(joinSafe(texts));
}

function schemaText(tools: readonly HostTool[]): SafeText {
  if (tools.length === 0) return safe`No tools found.`;
  const texts = tools.map(
    ({ server, serverToolName, inputSchema }) =>
      safe`${toVisibleLine(`${server}.${serverToolName}`)}\n${toSafeJson(inputSchema)}`,
  );
  return joinSafe(texts, safe`\n\n`);
}

function asItIs(text: SafeText): SafeText {
  return text;
}
