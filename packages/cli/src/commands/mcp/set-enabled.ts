/** `fairlead mcp enable` and `mcp disable`: set `fairlead.servers.NAME.enabled` in the user settings. */

import { isDeepStrictEqual } from "node:util";
import { HostError } from "@fairlead/core/errors";
import { readText } from "@fairlead/core/files/read-text";
import { demoName } from "@fairlead/core/host";
import { limits } from "@fairlead/core/limits";
import type { Origin } from "@fairlead/core/settings/define/definition";
import { setServerEnabled } from "@fairlead/core/settings/edit";
import { type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { positionText } from "../../output/servers/server-details.ts";
import { configurationIfTrusted, lastingConfiguration } from "../../shell/configuration.ts";
import type { Context, Verb } from "../../shell/verb.ts";
import { placeWords } from "./add/destination.ts";
import { findServer } from "./find-server.ts";

/** The commands `fairlead mcp enable` and `fairlead mcp disable`. */
export const switchVerbs: Readonly<Record<"enable" | "disable", Verb>> = {
  enable: {
    help: `
Undoes fairlead mcp disable. A workspace server still needs its approval: fairlead trust add.

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
  const file = configuration.locations.files.user;
  if (file === undefined) throw new HostError("settings_invalid", "there is no user settings file to write to");
  const before = await readText(file, limits.settingsBytes);
  await setServerEnabled(file, name, enabled);
  const isChanged = !isDeepStrictEqual(await readText(file, limits.settingsBytes), before);
  const stillOff = enabled ? await otherSwitch(name, context) : undefined;
  if (globals.json)
    return out.json({
      name,
      enabled: enabled && stillOff === undefined,
      file,
      ...(stillOff === undefined ? {} : { disabledBy: stillOff }),
    });
  out.print(safe`"${toVisibleLine(name)}" is ${stateWords(enabled, stillOff)} (${toSafeLine(file)})`);
  if (stillOff !== undefined)
    out.warn(
      safe`warning: the server is still disabled: fairlead.servers.${toSafeLine(name)}.enabled is false in ${positionText(stillOff)} (${toSafeLine(stillOff.scope)}).`,
    );
  if (isChanged) out.undo(`fairlead mcp ${enabled ? "disable" : "enable"} ${placeWords(globals)}${toShellWord(name)}`);
}

function stateWords(enabled: boolean, stillOff: Origin | undefined): SafeText {
  if (stillOff !== undefined) return safe`no longer disabled in your user settings`;
  return enabled ? safe`enabled` : safe`disabled`;
}

/** Returns where another settings file, such as the workspace's, still disables the server. */
async function otherSwitch(name: string, context: Context): Promise<Origin | undefined> {
  const { settings } = await lastingConfiguration(context);
  return settings.switchedOff.get(name);
}
