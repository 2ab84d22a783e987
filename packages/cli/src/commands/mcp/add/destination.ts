/** Finds the settings file that `mcp add`, `import`, `pin` and `remove` write to. */

import { HostError } from "@fairlead/core/errors";
import type { ConfiguredServer, Origin } from "@fairlead/core/settings/define/definition";
import type { EditOptions } from "@fairlead/core/settings/edit";
import type { Locations } from "@fairlead/core/settings/read/paths";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { type Command, Option } from "commander";

/** `project` is Gemini CLI's word for the workspace scope. */
export type ScopeWord = "user" | "project";

export interface Destination {
  readonly scope: "user" | "workspace";
  readonly file: string;
  readonly word: ScopeWord;
  readonly edit: EditOptions;
}

export function scopeOption(command: Command, help: string): void {
  command.addOption(new Option("-s, --scope <scope>", help).choices(["user", "project"]));
}

export function destinationOf(word: ScopeWord, { files, root }: Locations): Destination {
  const scope = word === "user" ? "user" : "workspace";
  const file = files[scope];
  if (file !== undefined) return { scope, file, word, edit: scope === "workspace" ? { within: root } : {} };
  throw new HostError("usage", "no project here: the home folder is not a workspace, or --no-workspace is set", {
    next: "add -s user, or -C DIR for a project in another folder",
  });
}

/** Returns where entries with this name are defined, strongest first, including replaced entries. */
export function placesOf(name: string, { servers }: Configuration): readonly Origin[] {
  const found: ConfiguredServer | undefined = servers.find(({ server }) => server.name === name)?.server;
  return found === undefined ? [] : [found.origin, ...found.shadows];
}
