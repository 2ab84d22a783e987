/** `fairlead mcp enable`: undoes `mcp disable`. */

import type { Verb } from "../../shell/verb.ts";
import { setEnabled } from "./set-enabled.ts";

export const verb: Verb = {
  define(command) {
    command.argument("<name>", "as in fairlead mcp list").addHelpText(
      "after",
      `
Undoes fairlead mcp disable. Approves nothing: a workspace server still waits for fairlead trust add.

Example:
  fairlead mcp enable github`,
    );
  },
  run: (context) => setEnabled(context, true),
};
