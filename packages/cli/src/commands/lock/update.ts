/** `fairlead lock update`: accepts what a server is now; the others stay locked as they were. */

import { relock } from "../../lock/relock.ts";
import type { Verb } from "../../shell/verb.ts";

export const verb: Verb = {
  define(command) {
    command.argument("[server]", "as in fairlead mcp list; without it, all of the workspace").addHelpText(
      "after",
      `
Connects to the server, writes what it is now into .gemini/mcp.lock, and shows what was different before. A server that
is not in the settings any more is taken out of the file.

Examples:
  fairlead lock update github
  fairlead lock update`,
    );
  },

  run: (context) => relock(context.operands[0], context),
};
