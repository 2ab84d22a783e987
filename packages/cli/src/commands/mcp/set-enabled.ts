/** What `mcp enable` and `mcp disable` share: one switch in the user's settings. */

import { HostError } from "@fairlead/core/errors";
import { setServerEnabled } from "@fairlead/core/settings/edit";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { configurationIfTrusted } from "../../configuration.ts";
import type { Context } from "../../verb.ts";
import { findServer } from "./find-server.ts";
import { placeWords } from "./undo.ts";

export async function setEnabled(context: Context, enabled: boolean): Promise<void> {
  const { out, globals, operands } = context;
  const [name = ""] = operands;
  const configuration = await configurationIfTrusted(context);
  const { server } = findServer(configuration, name);
  const file = configuration.locations.files.user;
  if (file === undefined) throw new HostError("settings_invalid", "there is no user settings file to write to");
  await setServerEnabled(file, server.name, enabled);
  if (globals.json) return out.json({ name, enabled, file });
  out.print(safe`"${toSafeLine(name)}" is ${enabled ? safe`enabled` : safe`disabled`} (${toSafeLine(file)})`);
  const opposite = enabled ? safe`disable` : safe`enable`;
  out.say(safe`undo: fairlead mcp ${opposite} ${toSafeLine(placeWords(globals) + toShellWord(name))}`);
}
