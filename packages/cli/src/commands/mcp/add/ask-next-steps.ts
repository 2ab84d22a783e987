/** Offers, on a terminal, the steps that an added server still needs: the sign-in, and an exact version. */

import { HostError } from "@fairlead/core/errors";
import { type SafeText, safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import { errorLines } from "../../../output/error-lines.ts";
import type { ListedServer } from "../../../output/servers/server-state.ts";
import { downloadOf } from "../../../pin/pin-server.ts";
import { globalWords } from "../../../shell/global-words.ts";
import { canAsk, confirm } from "../../../shell/prompt.ts";
import type { Context } from "../../../shell/verb.ts";

/** Asks about each step, and runs its command after a yes. If a step fails, the server stays added. */
export async function askNextSteps(tested: readonly ListedServer[], context: Context): Promise<void> {
  const { io, globals } = context;
  if (globals.json || !canAsk(io)) return;
  for (const { server, state } of tested) {
    const { name, definition } = server;
    const shown = toVisibleLine(name);
    if (state.status === "needs_auth")
      await askAndRun(safe`Sign in to "${shown}" now?`, ["mcp", "auth", name], context);
    if (state.status === "connected" && definition !== undefined && downloadOf(definition)?.pinned === false)
      await askAndRun(
        safe`Write the exact version of "${shown}" into the settings now?`,
        ["mcp", "pin", name],
        context,
      );
  }
}

async function askAndRun(
  question: SafeText,
  words: readonly string[],
  { io, out, globals, runWords }: Context,
): Promise<void> {
  try {
    if (await confirm(io, question)) await runWords([...globalWords(globals), ...words], io, out);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    if (error.code === "cancelled") throw new HostError("cancelled", "cancelled: the server stays added");
    out.warn(errorLines(error));
  }
}
