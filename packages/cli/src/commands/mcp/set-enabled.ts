/**
 * `fairlead mcp enable` and `mcp disable`: set `fairlead.servers.NAME.enabled` in the user settings. Enabling also
 * removes `disabled: true` from the server's entry.
 */

import { isDeepStrictEqual } from "node:util";
import { HostError } from "@fairlead/core/errors";
import { readText } from "@fairlead/core/files";
import { demoName } from "@fairlead/core/host";
import { limits } from "@fairlead/core/limits";
import { toShellWord } from "@fairlead/core/plain-text";
import { type DisablingOrigin, type Origin, removeEntrySwitch, setServerEnabled } from "@fairlead/core/settings";
import { type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust";
import { positionText } from "../../output/servers/server-details.ts";
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
  const file = configuration.locations.files.user;
  if (file === undefined) throw new HostError("settings_invalid", "there is no user settings file to write to");
  const before = await readText(file, limits.settingsBytes);
  await setServerEnabled(file, name, enabled);
  const entryFile = enabled ? await enableEntry(name, context) : undefined;
  const isChanged = entryFile !== undefined || !isDeepStrictEqual(await readText(file, limits.settingsBytes), before);
  const stillOff = enabled ? disablingSetting(name, await lastingConfiguration(context)) : undefined;
  const written = entryFile ?? file;
  if (globals.json)
    return out.json({
      name,
      enabled: enabled && stillOff === undefined,
      file: written,
      disabledBy: stillOff,
    });
  out.show(safe`"${toVisibleLine(name)}" is ${stateWords(enabled, stillOff)} (${toSafeLine(written)})`);
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

/** Removes `disabled: true` from the entry that counts. Returns the changed file. A system file is never changed. */
async function enableEntry(name: string, context: Context): Promise<string | undefined> {
  const configuration = await configurationIfTrusted(context);
  const setting = disablingSetting(name, configuration);
  if (!setting?.inEntry || (setting.scope !== "user" && setting.scope !== "workspace")) return undefined;
  const { root } = configuration.locations;
  await removeEntrySwitch(setting.file, name, setting.scope === "workspace" ? { within: root } : {});
  return setting.file;
}

/** Returns the place in the settings that still disables the server, such as the workspace's file. */
function disablingSetting(name: string, { servers, settings }: Configuration): DisablingOrigin | undefined {
  return servers.find(({ server }) => server.name === name)?.server.disabledBy ?? settings.switchedOff.get(name);
}
