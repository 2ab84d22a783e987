/** `fairlead mcp disable`: the entry stays, the server does not start. */

import type { Verb } from "../../shell/verb.ts";
import { setEnabled } from "./set-enabled.ts";

export const verb: Verb = {
  define(command) {
    command.argument("<name>", "as in fairlead mcp list").addHelpText(
      "after",
      `
Keeps the server from starting, for you and in every folder: "fairlead.servers.NAME.enabled" in your user settings.
The entry itself, also one that a workspace shares with others, is left alone.

Example:
  fairlead mcp disable github`,
    );
  },
  run: (context) => setEnabled(context, false),
};
