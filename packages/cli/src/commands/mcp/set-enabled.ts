/**
 * `fairlead mcp enable` and `mcp disable`: set `fairlead.servers.NAME.enabled` in the user settings. Enabling also
 * removes `disabled: true` from the server's entry.
 */

import { positionText } from "@fairlead/console/server/words/server-details";
import { demoName } from "@fairlead/core/host";
import { toShellWord } from "@fairlead/core/plain-text";
import type { DisablingOrigin, Origin } from "@fairlead/core/settings";
import { type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { enableServer } from "@fairlead/core/trust";
import { configurationIfTrusted, lastingConfiguration } from "../../shell/configuration.ts";
import type { Context, Verb } from "../../shell/verb.ts";
import { placeWords } from "./add/destination.ts";
import { findServer } from "./find-server.ts";

/** The commands `fairlead mcp enable` and `fairlead mcp disable`. */
export const verbs: Readonly<Record<"enable" | "disable", Verb>> = {
  enable: {
    help: `
Undoes fairlead mcp disable, and removes "disabled": true from the server's entry, also in a workspace's settings. A workspace server still needs its approval: fairlead trust add.

Example:
  fairlead mcp enable github`,

    define: (command) => command.argument("<name>", "name of the server (see: fairlead mcp list)"),
    run: (context) => setEnabled(context, true),
  },
  disable: {
    help: `
Sets "fairlead.servers.NAME.enabled" to false in your user settings: the server does not start for you, in any folder.
The server's entry stays unchanged, also if it is in a workspace's settings.

Example:
  fairlead mcp disable github`,

    define: (command) => command.argument("<name>", "name of the server (see: fairlead mcp list)"),
    run: (context) => setEnabled(context, false),
  },
};

async function setEnabled(context: Context, enabled: boolean): Promise<void> {
  const { out, globals, operands } = context;
  const [name = ""] = operands;
  const configuration = await configurationIfTrusted(context);
  // The demo server has no entry in the settings, but the user can disable it too.
  if (name !== demoName) findServer(configuration, name);
  const { file, isChanged, stillOff } = await enableServer(name, enabled, {
    before: () => configurationIfTrusted(context),
    after: () => lastingConfiguration(context),
  });
  if (globals.json)
    return out.json({
      name,
      enabled: enabled && stillOff === undefined,
      file,
      disabledBy: stillOff,
    });
  out.show(safe`"${toVisibleLine(name)}" is ${stateWords(enabled, stillOff)} (${toSafeLine(file)})`);
  if (stillOff !== undefined)
    out.warn(
      safe`warning: the server is still disabled: ${settingWords(name, stillOff)} in ${positionText(stillOff)} (${toSafeLine(stillOff.scope)}).`,
    );
  if (isChanged) out.undo(`fairlead mcp ${enabled ? "disable" : "enable"} ${placeWords(globals)}${toShellWord(name)}`);
}

function stateWords(enabled: boolean, stillOff: Origin | undefined): SafeText {
  if (stillOff !== undefined) return safe`no longer disabled in your user settings`;
  return enabled ? safe`enabled` : safe`disabled`;
}

function settingWords(name: string, { inEntry }: DisablingOrigin): SafeText {
  return inEntry ? safe`its entry has "disabled": true` : safe`fairlead.servers.${toSafeLine(name)}.enabled is false`;
}
