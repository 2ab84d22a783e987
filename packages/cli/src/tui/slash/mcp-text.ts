/** The texts of `/mcp list` and `/mcp schema`. */

import type { HostTool } from "@fairlead/core/host";
import { joinSafe, type SafeText, safe, toSafeJson, toVisibleLine } from "@fairlead/core/text/safe-text";
import { serverText, stateWords } from "../../output/servers/server-state.ts";
import { signedIn } from "../../sign-in/signed-in.ts";
import { plainStyle } from "../captured.ts";
import type { Services } from "../services.ts";
import { typedHere } from "./typed-here.ts";

export async function serverListText({ session: { host }, settings }: Services): Promise<string> {
  const configuration = settings.get();
  const [cached, signIns] = await Promise.all([host.recall(), signedIn(configuration)]);
  const texts = host.states().map((state) => {
    const server = configuration.servers.find((each) => each.server.name === state.name)?.server;
    const known = cached.find((each) => each.server === state.name);
    if (server === undefined) return safe`${toVisibleLine(state.name)}  ${stateWords(state)}\n  built in`;
    return serverText({ server, state, known, signIn: signIns.get(state.name) }, { style: plainStyle, typed: asItIs });
  });
  return typedHere(joinSafe(texts));
}

export function schemaText(tools: readonly HostTool[]): SafeText {
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
