/** Enables or disables a server for the user, in all folders. */

import { isDeepStrictEqual } from "node:util";
import { HostError } from "../errors.ts";
import { readText } from "../files/read-text.ts";
import { limits } from "../limits.ts";
import type { DisablingOrigin } from "../settings/define/definition.ts";
import { removeEntrySwitch, setServerEnabled } from "../settings/edit.ts";
import type { Configuration } from "./configuration.ts";

/** What `enableServer` has done. */
export interface EnabledServer {
  /** The settings file that was written. */
  readonly file: string;
  readonly isChanged: boolean;
  /** The place in the settings that still disables the server, such as the workspace's file. */
  readonly stillOff: DisablingOrigin | undefined;
}

/**
 * Sets `fairlead.servers.NAME.enabled` in the user settings. Enabling also removes `disabled: true` from the server's
 * entry, unless the entry is in a system file.
 *
 * @param load How to read the settings: `before` the server's entry is changed, and `after` all changes.
 * @throws HostError `settings_invalid` if there is no user settings file, or if a file cannot be edited
 */
export async function enableServer(
  name: string,
  isEnabled: boolean,
  load: { readonly before: () => Promise<Configuration>; readonly after: () => Promise<Configuration> },
): Promise<EnabledServer> {
  const { locations } = await load.before();
  const file = locations.files.user;
  if (file === undefined) throw new HostError("settings_invalid", "there is no user settings file to write to");
  const before = await readText(file, limits.settingsBytes);
  await setServerEnabled(file, name, isEnabled);
  const entryFile = isEnabled ? await enableEntry(name, await load.before()) : undefined;
  const isChanged = entryFile !== undefined || !isDeepStrictEqual(await readText(file, limits.settingsBytes), before);
  const stillOff = isEnabled ? disablingSetting(name, await load.after()) : undefined;
  return { file: entryFile ?? file, isChanged, stillOff };
}

/** Removes `disabled: true` from the entry that counts. Returns the changed file. A system file is never changed. */
async function enableEntry(name: string, configuration: Configuration): Promise<string | undefined> {
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
