/** `fairlead lock`: writes down what the workspace's servers are now, so that a change is noticed. */

import { relock } from "../../lock/relock.ts";
import type { Verb } from "../../shell/verb.ts";

export const verb: Verb = {
  define(command) {
    command.addHelpText(
      "after",
      `
Connects to every server of the workspace's settings and writes .gemini/mcp.lock beside them: the entries without their
secrets, versions where they are known, and a digest of every tool, every prompt and the instructions. Commit it. As long
as it is there, a tool that is not as it was locked asks before it runs, also for someone who has never seen it before.

Examples:
  fairlead lock
  fairlead lock verify               in CI: exit code 6 if anything is different
  fairlead lock update github        accept what one server is now`,
    );
  },

  run: (context) => relock(undefined, context),
};
