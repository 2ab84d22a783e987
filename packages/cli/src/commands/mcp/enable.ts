/** `fairlead mcp enable`: undoes `mcp disable`. */

import type { Verb } from "../../shell/verb.ts";
import { setEnabled } from "./set-enabled.ts";

export const verb: Verb = {
  define(command) {
    command.argument("<name>", "name from fairlead mcp list").addHelpText(
      "after",
      `
Undoes fairlead mcp disable. A workspace server still needs its approval: fairlead trust add.

Example:
  fairlead mcp enable github`,
    );
  },
  run: (context) => setEnabled(context, true),
};
