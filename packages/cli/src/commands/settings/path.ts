/** `fairlead settings path`: shows which settings files apply here and how the workspace root was chosen. */

import type { Scope, SettingsFile } from "@fairlead/core/settings/define/definition";
import type { Locations } from "@fairlead/core/settings/read/paths";
import { type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { table } from "../../output/output.ts";
import { configurationOf } from "../../shell/configuration.ts";
import type { Verb } from "../../shell/verb.ts";

const scopes: readonly Scope[] = ["system-defaults", "user", "workspace", "system"];

interface ScopeFile {
  readonly scope: Scope;
  readonly file?: string;
  readonly state: SettingsFile["state"] | "none";
}

export const verb: Verb = {
  help: `
Lists settings files weakest first: an entry in a later file replaces the entry of the same name in an earlier one.

Examples:
  fairlead settings path
  fairlead settings path -C ~/projects/shop --json`,

  async run(context) {
    const { out, globals } = context;
    const { locations, settings } = await configurationOf(context);
    const { root, rootFrom, state, trustedFolders, envFiles } = locations;
    const files = scopes.map(
      (scope): ScopeFile => settings.files.find((file) => file.scope === scope) ?? { scope, state: "none" },
    );
    if (globals.json) return out.json({ root, rootFrom, files, trustedFolders, envFiles, state });
    const rows = [
      [safe`workspace root`, toSafeLine(root), safe`(${rootReason[rootFrom]})`],
      ...files.map(({ scope, file, state }) => [
        safe`${toSafeLine(scope)} settings`,
        file === undefined ? safe`none` : toSafeLine(file),
        out.typed(stateWords[state]),
      ]),
      [safe`trusted folders`, toSafeLine(trustedFolders), safe``],
      ...[...envFiles.user, ...envFiles.workspace].map((file) => [safe`env file`, toSafeLine(file), safe``]),
      [safe`state folder`, toSafeLine(state), safe``],
    ];
    out.print(table(rows));
  },
};

const stateWords: Readonly<Record<ScopeFile["state"], SafeText>> = {
  read: safe``,
  absent: safe`(does not exist)`,
  broken: safe`(broken: fairlead settings validate)`,
  ignored: safe`(not read: the folder is not trusted)`,
  none: safe`(none: the home folder is not a workspace, or --no-workspace is set)`,
};

const rootReason: Readonly<Record<Locations["rootFrom"], SafeText>> = {
  option: safe`given with -C`,
  "gemini-folder": safe`nearest folder with .gemini`,
  git: safe`git root`,
  cwd: safe`current folder`,
};
