/** `fairlead mcp auth`: signs in to a server, or shows who needs it. */

import type { SignInMessage, SignInUi } from "@fairlead/core/auth/browser/sign-in-ui";
import { HostError } from "@fairlead/core/errors";
import type { ServerState } from "@fairlead/core/events";
import { initialServerState, notConnectedError } from "@fairlead/core/mcp/server-state";
import type { ServerDefinition, StdioTransport } from "@fairlead/core/settings/define/definition";
import { safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust/configuration";
import { serverDocument, stateWords } from "../../output/servers/server-state.ts";
import { configurationOf } from "../../shell/configuration.ts";
import { canAsk } from "../../shell/prompt.ts";
import type { Context, Verb } from "../../shell/verb.ts";
import { terminalSignIn } from "../../sign-in/terminal-sign-in.ts";
import { useHost } from "../../targets/with-host.ts";
import { findServer } from "./find-server.ts";

interface Options {
  readonly device?: boolean;
  readonly browser: boolean;
  readonly scopes?: string;
}

export const verb: Verb = {
  define(command) {
    command
      .argument("[name]", "as in fairlead mcp list; without it, shows who needs a sign-in")
      .option("--device", "with a code that you type on another device, where the server offers that")
      .option("--no-browser", "open nothing: show the address, and paste back where the browser ended")
      .option("--scopes <list>", "ask for these instead of what the server names, separated by blanks or commas")
      .addHelpText(
        "after",
        `
Asks the server, finds out where to sign in, shows the whole address, its domain and what is asked for, and opens the
browser if you say so. The browser comes back by itself; at the same time you can paste the address at which it ended.
Over SSH and in containers nothing is opened, and pasting comes first. Nothing is signed in to without a terminal: exit 5.
Tokens go to the system's keychain where there is one, else to an encrypted file, and to this one server only.

Examples:
  fairlead mcp auth                       who needs a sign-in
  fairlead mcp auth github
  fairlead mcp auth github --no-browser
  fairlead mcp auth github --device
  fairlead mcp auth github --scopes "repo read:user"`,
      );
  },

  async run(context) {
    const { operands, command } = context;
    const configuration = await configurationOf(context);
    const [name] = operands;
    if (name !== undefined) return signIn(findServer(configuration, name), configuration, context);
    const { device, browser, scopes } = command.opts<Options>();
    if (device || !browser || scopes !== undefined)
      throw new HostError("usage", "name the server to sign in to", { next: "fairlead mcp auth" });
    const { showSignIns } = await import("../../sign-in/overview.ts");
    await showSignIns(configuration, context);
  },
};

async function signIn(
  { server, admission }: AdmittedServer,
  configuration: Configuration,
  context: Context,
): Promise<void> {
  const { io, out, globals, command } = context;
  const { name, definition } = server;
  const before = initialServerState(name, admission, 0);
  if (admission.status !== "admitted" || definition === undefined) throw notConnectedError(before);
  await checkHasSignIn(definition);
  const { device = false, browser, scopes } = command.opts<Options>();
  const heard: SignInMessage[] = [];
  // Others sign in by themselves: there it is enough to try.
  const isOurs = definition.authentication.provider === "oauth";
  if (isOurs && !canAsk(io)) throw needsTerminal(name);
  const isTakenOver = isOurs && (await takeOver(definition, configuration, context));
  const ways = isOurs && {
    signIn: terminalSignIn(context, {
      browser,
      device,
      again: !isTakenOver,
      onMessage: (message) => void heard.push(message),
      ...(scopes !== undefined && { scopes: scopes.split(/[\s,]+/).filter((scope) => scope !== "") }),
    }),
  };
  out.say(safe`asking "${toVisibleLine(name)}" …`);
  const first = await connect(name, before, configuration, context, ways || {});
  const isSignedIn = !isOurs || isTakenOver || heard.some(({ kind }) => kind === "signed_in");
  // Some ask for a sign-in only when a tool is called; then it is known all the same where to sign in.
  const isUnasked = first.status === "connected" && !isSignedIn && ways !== false;
  const isLate = isUnasked && (await signInUnasked(definition, configuration, ways.signIn, io.signal));
  const state = isLate ? await connect(name, before, configuration, context, {}) : first;
  if (state.status !== "connected") throw whyNot(state);
  const isAsked = isSignedIn || isLate;
  if (globals.json) return out.json({ ...serverDocument({ server, state }), signedIn: isAsked });
  if (!isAsked) out.say(safe`"${toVisibleLine(name)}" did not ask for a sign-in.`);
  out.print(safe`${out.style.bold(toVisibleLine(name))}  ${out.style.green(stateWords(state))}`);
  out.say(safe`look: fairlead tools ${toSafeLine(toShellWord(name))}`);
}

/** False: neither the server nor its entry says where. */
async function signInUnasked(
  definition: ServerDefinition,
  configuration: Configuration,
  ways: SignInUi,
  signal: AbortSignal,
): Promise<boolean> {
  const [{ createHostSignIn }, { readSecret }] = await Promise.all([
    import("@fairlead/core/host/servers/sign-in"),
    import("../../sign-in/read-state.ts"),
  ]);
  const { signIn } = createHostSignIn({ configuration: () => configuration, secret: readSecret(configuration), ways });
  return (await signIn(definition, signal)) !== undefined;
}

/** Whoever calls it off leaves the server as it was before. */
export function whyNot(state: ServerState): HostError {
  if (state.status !== "disconnected" || state.reason !== "lazy") return notConnectedError(state);
  return new HostError("cancelled", `the sign-in to "${state.name}" was called off`, { serverName: state.name });
}

async function takeOver(
  definition: ServerDefinition,
  configuration: Configuration,
  context: Context,
): Promise<boolean> {
  const { offerGeminiSignIn } = await import("../../sign-in/take-over.ts");
  return offerGeminiSignIn(definition, configuration, context);
}

/** Without a line that says who is waited for: there may be questions on that terminal. */
function connect(
  name: string,
  before: ServerState,
  configuration: Configuration,
  context: Context,
  ways: Parameters<typeof useHost>[3],
): Promise<ServerState> {
  return useHost(
    configuration,
    context,
    async (host) => {
      await host.start({ servers: [name], signal: context.io.signal });
      return host.states().find((state) => state.name === name) ?? before;
    },
    ways,
  );
}

export async function checkHasSignIn(definition: ServerDefinition): Promise<void> {
  const { name: serverName, transport, origin } = definition;
  if (transport.kind === "stdio") throw isProgram(serverName, transport, `${origin.file}:${origin.line}`);
  const { bringsOwnHeader } = await import("@fairlead/core/auth/own-header");
  if (definition.authentication.provider !== "oauth" || !bringsOwnHeader(definition)) return;
  throw new HostError(
    "usage",
    `"${serverName}" brings its own Authorization header, so there is nothing to sign in to`,
    {
      serverName,
      next: `Take the header out of its entry (${origin.file}:${origin.line}) to sign in instead.`,
    },
  );
}

function isProgram(serverName: string, { env }: StdioTransport, place: string): HostError {
  const names = [...env.keys()];
  const set = names.length === 0 ? "it sets none so far" : `it sets ${names.join(", ")}`;
  return new HostError(
    "usage",
    `"${serverName}" is a program that runs here: it has no sign-in, and takes credentials from "env" of its entry; ${set}`,
    { serverName, next: `Check them in ${place}. To keep a value out of that file: fairlead secret set NAME` },
  );
}

function needsTerminal(serverName: string): HostError {
  return new HostError("auth_required", `signing in to "${serverName}" needs a terminal, and there is none here`, {
    serverName,
    next: `In a terminal: fairlead mcp auth ${toShellWord(serverName)}`,
  });
}
