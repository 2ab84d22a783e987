/** Which file `mcp add` and `mcp remove` write to. */

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
  throw new HostError(
    "usage",
    "there is no project here: the home folder's settings are the user's, or --no-workspace was given",
    {
      next: "Use -s user, or -C DIR for a project elsewhere.",
    },
  );
}

/** Where entries of that name are written, strongest first; an entry behind another one counts too. */
export function placesOf(name: string, { servers }: Configuration): readonly Origin[] {
  const found: ConfiguredServer | undefined = servers.find(({ server }) => server.name === name)?.server;
  return found === undefined ? [] : [found.origin, ...found.shadows];
}
