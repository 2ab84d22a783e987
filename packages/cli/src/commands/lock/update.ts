/** `fairlead lock update`: locks one server's current state; other servers stay as they are in the lock file. */

import { relock } from "../../lock/relock.ts";
import type { Verb } from "../../shell/verb.ts";

export const verb: Verb = {
  define(command) {
    command.argument("[server]", "name from fairlead mcp list; without it, all servers of the workspace").addHelpText(
      "after",
      `
Connects to the server, writes its current entry, version and tools into .gemini/mcp.lock, and shows the differences.
A server that is no longer in the settings is removed from the file.

Examples:
  fairlead lock update github
  fairlead lock update`,
    );
  },

  run: (context) => relock(context.operands[0], context),
};
