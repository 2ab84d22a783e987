/** `fairlead lock`: writes the lock file, so that later changes of the workspace's servers are detected. */

import { relock } from "../../lock/relock.ts";
import type { Verb } from "../../shell/verb.ts";

export const verb: Verb = {
  define(command) {
    command.addHelpText(
      "after",
      `
Connects to every server in the workspace's settings and writes .gemini/mcp.lock next to them: the entries without their
secrets, the versions if known, and a digest of every tool, every prompt and the instructions. Commit this file. While it
exists, Fairlead asks everyone who uses the workspace before it runs a tool that differs from the lock file.

Examples:
  fairlead lock
  fairlead lock verify               in CI: exit code 6 if anything differs
  fairlead lock update github        accept the changes of one server`,
    );
  },

  run: (context) => relock(undefined, context),
};
