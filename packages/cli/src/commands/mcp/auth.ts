/** `fairlead mcp auth`: signs in to a server, or lists the servers that need a sign-in. */

import type { SignInMessage, SignInUi } from "@fairlead/core/auth";
import { checkHasSignIn } from "@fairlead/core/auth/has-sign-in";
import { openUrl, withCommands } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import type { ServerState } from "@fairlead/core/events";
import { toShellWord } from "@fairlead/core/plain-text";
import { initialServerState, notConnectedError } from "@fairlead/core/server";
import type { ServerDefinition } from "@fairlead/core/settings";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { type AdmittedServer, type Configuration, type ProgramPlace, programPlace } from "@fairlead/core/trust";
import { serverDocument, stateWords } from "../../output/servers/server-state.ts";
import { configurationOf } from "../../shell/configuration.ts";
import { askLine, askLineOrEnd, canAsk, confirm } from "../../shell/prompt.ts";
import type { Context, Io, Verb } from "../../shell/verb.ts";
import { byHandLines, messageLines, userLocation } from "../../sign-in/message-lines.ts";
import { useHost } from "../../targets/with-host.ts";
import { findServer } from "./find-server.ts";

interface Options {
  readonly device?: boolean;
  readonly browser: boolean;
  readonly scopes?: string;
}

export const verb: Verb = {
  help: `
Shows the sign-in URL, its domain and the requested scopes, and opens the browser if you confirm. The browser returns
to Fairlead by itself; you can also paste the final URL. Over SSH and in containers Fairlead opens no browser and asks
for the final URL. Without a terminal the command fails with exit code 5. Tokens are stored in the system's keychain,
or in an encrypted file, and are sent to this server only.

Examples:
  fairlead mcp auth                       list servers that need a sign-in
  fairlead mcp auth github
  fairlead mcp auth github --no-browser
  fairlead mcp auth github --device
  fairlead mcp auth github --scopes "repo read:user"`,

  define(command) {
    command
      .argument("[name]", "name of the server; without a name, shows the servers that need a sign-in")
      .option("--device", "sign in with a code on another device, if the server supports it")
      .option("--no-browser", "print the URL instead of opening a browser; paste the final URL back")
      .option(
        "--scopes <list>",
        "request these scopes (separated by spaces or commas), not those that the server names",
      );
  },

  async run(context) {
    const { operands, command } = context;
    const configuration = await configurationOf(context);
    const [name] = operands;
    if (name !== undefined) return signIn(findServer(configuration, name), configuration, context);
    const { device, browser, scopes } = command.opts<Options>();
    if (device || !browser || scopes !== undefined)
      throw new HostError("usage", "the server's name is missing", { next: "fairlead mcp auth" });
    const { showSignIns } = await import("../../sign-in/read-state.ts");
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
  checkHasSignIn(definition);
  const { device = false, browser, scopes } = command.opts<Options>();
  const heard: SignInMessage[] = [];
  // Only OAuth has a sign-in for the user. With Google credentials, for example, connecting is enough.
  const isOurs = definition.authentication.provider === "oauth";
  if (isOurs && !canAsk(io)) throw needsTerminal(name);
  const { offerGeminiSignIn } = await import("../../sign-in/read-state.ts");
  const isTakenOver = isOurs && (await offerGeminiSignIn(definition, configuration, context));
  const ways = isOurs && {
    signIn: terminalSignIn(context, browser, programPlace(configuration), heard, {
      device,
      again: !isTakenOver,
      scopes: scopes?.split(/[\s,]+/).filter((scope) => scope !== ""),
    }),
  };
  out.say(safe`connecting to "${toVisibleLine(name)}" …`);
  const first = await connect(name, before, configuration, context, ways || {});
  const isSignedIn = !isOurs || isTakenOver || heard.some(({ kind }) => kind === "signed_in");
  // A server may accept the connection without a sign-in, but require a sign-in for tool calls. So Fairlead
  // tries to sign in even if the server has not requested a sign-in.
  const isUnasked = first.status === "connected" && !isSignedIn && ways !== false;
  const isLate = isUnasked && (await signInUnasked(definition, configuration, ways.signIn, io.signal));
  const state = isLate ? await connect(name, before, configuration, context, {}) : first;
  if (state.status !== "connected") throw whyNot(state);
  const isAsked = isSignedIn || isLate;
  if (globals.json) return out.json({ ...serverDocument({ server, state }), signedIn: isAsked });
  if (!isAsked) out.say(safe`"${toVisibleLine(name)}" did not ask for a sign-in.`);
  out.show(safe`${out.style.bold(toVisibleLine(name))}  ${out.style.green(stateWords(state))}`);
  out.say(safe`next: fairlead tools ${toSafeLine(toShellWord(name))}`);
}

/**
 * Signs in to a server that has not requested a sign-in. Returns false if neither the server nor its settings entry
 * names an authorization server.
 */
async function signInUnasked(
  definition: ServerDefinition,
  configuration: Configuration,
  ways: SignInUi,
  signal: AbortSignal,
): Promise<boolean> {
  const [{ createHostSignIn }, { readSecret }] = await Promise.all([
    import("@fairlead/core/auth/host-sign-in"),
    import("../../sign-in/read-state.ts"),
  ]);
  const secret = withCommands(readSecret(configuration), programPlace(configuration));
  const { signIn } = createHostSignIn({ configuration: () => configuration, secret, ways });
  return (await signIn(definition, signal)) !== undefined;
}

/** Returns the error for a sign-in that did not end in a connection. The state `lazy` means that the user cancelled. */
export function whyNot(state: ServerState): HostError {
  if (state.status !== "disconnected" || state.reason !== "lazy") return notConnectedError(state);
  return new HostError("cancelled", `sign-in to "${state.name}" cancelled`, { serverName: state.name });
}

/** Connects without a progress line, because the sign-in may ask questions on the same terminal. */
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

function needsTerminal(serverName: string): HostError {
  return new HostError("auth_required", `sign-in to "${serverName}" required, and there is no terminal to ask on`, {
    serverName,
    next: `In a terminal: fairlead mcp auth ${toShellWord(serverName)}`,
  });
}

/** Asks on the terminal. Adds each shown message to `heard`. */
function terminalSignIn(
  { io, out }: Context,
  browser: boolean,
  browserPlace: ProgramPlace,
  heard: SignInMessage[],
  options: Pick<SignInUi, "device" | "again" | "scopes">,
): SignInUi {
  const location = userLocation(io);
  const browserFirst = browser && location === "desk";
  let byHand = joinSafe([]);

  return {
    show(message) {
      out.exactly(joinSafe(messageLines(message, { location, browserFirst })));
      if (message.kind === "address") byHand = joinSafe(byHandLines(message, location));
      heard.push(message);
    },
    async consent(_request, signal) {
      if (await confirm(until(io, signal), safe`Open the address in your browser?`)) return true;
      out.exactly(byHand);
      return undefined;
    },
    openBrowser: (url) => openUrl(url, browserPlace),
    paste: (signal) => askMeanwhile(io, safe`address from the browser: `, signal),
    async askClientId({ issuer, redirectUri, why }, signal) {
      out.exactly(safe`No client ID: ${toVisibleLine(why)}.`);
      out.exactly(safe`Register a client at ${toVisibleLine(issuer)} with this redirect URI:`);
      out.exactly(safe`  ${toVisibleLine(redirectUri)}`);
      return askLine(until(io, signal), safe`client ID (Enter: none): `);
    },
    async chooseIssuer(issuers, signal) {
      out.exactly(safe`The server names several authorization servers:`);
      for (const [at, issuer] of issuers.entries()) out.exactly(safe`  ${at + 1}: ${toVisibleLine(issuer)}`);
      const answer = await askLine(until(io, signal), safe`Number of the authorization server to sign in at [1]: `);
      return issuers[Number(answer.trim() || "1") - 1] ?? "";
    },
    browserFirst,
    ...options,
  };
}

function until(io: Io, signal: AbortSignal): Io {
  return { ...io, signal: AbortSignal.any([io.signal, signal]) };
}

/** Asks for a line of input. If the user cancels or gives no answer, later output starts on a new line. */
async function askMeanwhile(io: Io, question: SafeText, signal: AbortSignal): Promise<string | undefined> {
  try {
    const answer = await askLineOrEnd(until(io, signal), question);
    if (answer === undefined) io.stderr.write("\n");
    return answer;
  } catch (error) {
    io.stderr.write("\n");
    throw error;
  }
}
