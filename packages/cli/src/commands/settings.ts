/** `fairlead settings`: shows where the settings files are, checks them, and prints their JSON Schema. */

import { problemLines } from "@fairlead/console/server/words/server-details";
import { missingSecretLines, missingSecrets } from "@fairlead/console/server/words/server-redaction";
import { HostError } from "@fairlead/core/errors";
import { loadPolicies } from "@fairlead/core/policy";
import { type Locations, type Scope, type SettingsFile, settingsJsonSchema } from "@fairlead/core/settings";
import { type SafeText, safe, toSafeJson, toSafeLine } from "@fairlead/core/text/safe-text";
import { loadConfiguration } from "@fairlead/core/trust";
import { count, table } from "../output/output.ts";
import { configurationOf, optionsIfTrusted } from "../shell/configuration.ts";
import type { Verb } from "../shell/verb.ts";

const scopes: readonly Scope[] = ["system-defaults", "user", "workspace", "system"];

interface ScopeFile {
  readonly scope: Scope;
  readonly file?: string;
  readonly state: SettingsFile["state"] | "none";
}

/** `fairlead settings path`: shows which settings files apply here and how the workspace root was chosen. */
const path: Verb = {
  help: `
Lists settings files weakest first: an entry in a later file replaces the entry of the same name in an earlier file.

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
    out.show(table(rows));
  },
};

const stateWords: Readonly<Record<ScopeFile["state"], SafeText>> = {
  read: safe``,
  absent: safe`(does not exist)`,
  broken: safe`(invalid; see: fairlead settings validate)`,
  ignored: safe`(not read: the folder is not trusted)`,
  none: safe`(none: this is the home folder, or --no-workspace is set)`,
};

const rootReason: Readonly<Record<Locations["rootFrom"], SafeText>> = {
  option: safe`given with -C`,
  "gemini-folder": safe`nearest folder with .gemini`,
  git: safe`git root`,
  cwd: safe`current folder`,
};

/** `fairlead settings schema`: the JSON Schema of the settings file, for editors. */
const schema: Verb = {
  help: `
Prints the schema. Save it in a file and write that file's path as "$schema" in settings.json: then editors complete
and check the settings.

Example:
  fairlead settings schema > ~/.gemini/settings.schema.json
  and in ~/.gemini/settings.json:  "$schema": "./settings.schema.json"`,

  async run({ out }) {
    out.print(toSafeJson(settingsJsonSchema()));
  },
};

/** `fairlead settings validate`: lists every problem in the settings with its file and line. */
const validate: Verb = {
  help: `
Reads all settings files, policy files and the trusted folders file, also those of a workspace that is not trusted yet.
Starts no server and writes nothing. An error disables a server or a whole file; a warning disables nothing.
Exit code: 3 if there is an error, else 0.

Examples:
  fairlead settings validate
  fairlead settings validate --json -C ~/projects/shop`,

  async run(context) {
    const { out, globals } = context;
    // Uses `loadConfiguration`, because `configurationOf` would also print the problems as warnings.
    const configuration = await loadConfiguration(optionsIfTrusted(context));
    const { settings } = configuration;
    const policies = await loadPolicies(configuration);
    const problems = [...configuration.problems, ...policies.problems];
    const errors = problems.filter(({ severity }) => severity === "error").length;
    if (globals.json) out.json({ valid: errors === 0, files: settings.files, problems });
    else for (const problem of problems) out.show(out.typed(problemLines(problem)));
    const missing = await missingSecrets(configuration, context);
    for (const line of missingSecretLines([...missing], missing)) out.warn(safe`warning: ${line}`);
    if (errors > 0)
      throw new HostError("settings_invalid", `${count(errors, "error")} in the settings`, {
        next: "correct the lines above, then: fairlead settings validate",
      });
    const read = settings.files.filter(({ state }) => state === "read").length;
    const warnings = problems.length === 0 ? safe`no problems` : safe`${count(problems.length, "warning")}, no errors`;
    out.say(safe`${warnings} (${count(read, "settings file")} read)`);
  },
};

/** The commands `fairlead settings path`, `schema` and `validate`. */
export const verbs: Readonly<Record<"path" | "schema" | "validate", Verb>> = { path, schema, validate };
