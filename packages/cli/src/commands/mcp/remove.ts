/** `fairlead mcp remove`: takes an entry out of the settings. */

import { HostError } from "@fairlead/core/errors";
import type { Origin } from "@fairlead/core/settings/definition";
import { removeServer } from "@fairlead/core/settings/edit";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { revoke } from "@fairlead/core/trust/approvals";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { configurationIfTrusted } from "../../configuration.ts";
import type { Globals, Verb } from "../../verb.ts";
import { type Destination, destinationOf, placesOf, type ScopeWord, scopeOption } from "./destination.ts";
import { findServer } from "./find-server.ts";
import { removeLine, restoreLine } from "./undo.ts";

export const verb: Verb = {
  define(command) {
    command.argument("<name>", "as in fairlead mcp list");
    scopeOption(command, "where to remove it from; needed only when it is in both");
    command.addHelpText(
      "after",
      `
Comments and everything else in the file stay as they are. Prints the line that puts the entry back.

Examples:
  fairlead mcp remove github
  fairlead mcp remove -s user github`,
    );
  },

  async run(context) {
    const { out, globals, command, operands } = context;
    const [name = ""] = operands;
    const configuration = await configurationIfTrusted(context);
    const { locations } = configuration;
    const { scope, file, word } = choose(name, configuration, command.opts<{ scope?: ScopeWord }>().scope, globals);
    const { removed } = await removeServer(file, name);
    if (removed === undefined)
      throw new HostError("server_unknown", `"${name}" is not in ${file}`, {
        serverName: name,
        next: "fairlead mcp list",
      });
    if (scope === "workspace") await revoke(locations.state, locations.root, [name]);
    const undo = restoreLine(name, removed, word, context);
    if (globals.json) return out.json({ name, scope, file, removed: true, ...(undo === undefined ? {} : { undo }) });
    out.print(safe`removed "${toSafeLine(name)}" from ${toSafeLine(file)} (${toSafeLine(scope)})`);
    if (undo !== undefined) out.say(safe`undo: ${toSafeLine(undo)}`);
    else out.say(safe`no undo line: the entry held values that look like secrets, and this may be a log`);
  },
};

function choose(
  name: string,
  configuration: Configuration,
  wanted: ScopeWord | undefined,
  globals: Globals,
): Destination {
  if (wanted !== undefined) return destinationOf(wanted, configuration.locations);
  findServer(configuration, name);
  const places = placesOf(name, configuration);
  const words = new Set(places.flatMap(({ scope }) => wordOf(scope)));
  const [word] = words;
  if (word === undefined)
    throw new HostError(
      "usage",
      `"${name}" is in ${places[0]?.file}, which belongs to the system and is not edited here`,
      {
        next: "fairlead mcp disable keeps it from starting for you",
      },
    );
  if (words.size > 1)
    throw new HostError("usage", `"${name}" is in the user settings and in the project's`, {
      next: [...words].map((scope) => removeLine(name, scope, globals)).join("   or   "),
    });
  return destinationOf(word, configuration.locations);
}

function wordOf(scope: Origin["scope"]): ScopeWord[] {
  if (scope === "user") return ["user"];
  return scope === "workspace" ? ["project"] : [];
}
