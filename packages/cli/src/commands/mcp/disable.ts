/** `fairlead mcp disable`: prevents a server from starting and keeps its entry. */

import type { Verb } from "../../shell/verb.ts";
import { setEnabled } from "./set-enabled.ts";

export const verb: Verb = {
  define(command) {
    command.argument("<name>", "name from fairlead mcp list").addHelpText(
      "after",
      `
Sets "fairlead.servers.NAME.enabled" to false in your user settings: the server does not start for you, in any folder.
The entry itself stays unchanged, also a workspace's.

Example:
  fairlead mcp disable github`,
    );
  },
  run: (context) => setEnabled(context, false),
};
