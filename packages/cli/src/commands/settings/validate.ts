/** `fairlead settings validate`: everything that is wrong with the settings, and where. */

import { HostError } from "@fairlead/core/errors";
import { loadPolicies } from "@fairlead/core/policy/rules/load-policies";
import { safe } from "@fairlead/core/text/safe-text";
import { loadConfiguration } from "@fairlead/core/trust/configuration";
import { count } from "../../output/output.ts";
import { problemLines } from "../../output/problem-lines.ts";
import { missingSecretLines, missingSecrets } from "../../output/servers/missing-secrets.ts";
import { optionsIfTrusted } from "../../shell/configuration.ts";
import type { Verb } from "../../shell/verb.ts";

export const verb: Verb = {
  define(command) {
    command.addHelpText(
      "after",
      `
Reads every settings file, the workspace's also when its folder is not trusted yet, the file of trusted folders, and policy files.
Starts nothing, writes nothing. An error takes a server or a whole file out; a warning changes nothing.
Exit code: 3 when there is an error, 0 otherwise.

Examples:
  fairlead settings validate
  fairlead settings validate --json -C ~/projects/shop`,
    );
  },

  async run(context) {
    const { out, globals } = context;
    // Not told by whoever loads it: here the problems are the answer.
    const configuration = await loadConfiguration(optionsIfTrusted(context));
    const { settings } = configuration;
    const policies = await loadPolicies(configuration);
    const problems = [...configuration.problems, ...policies.problems];
    const errors = problems.filter(({ severity }) => severity === "error").length;
    if (globals.json) out.json({ valid: errors === 0, files: settings.files, problems });
    else for (const problem of problems) out.print(out.typed(problemLines(problem)));
    const missing = await missingSecrets(configuration, context);
    for (const line of missingSecretLines([...missing], missing)) out.warn(safe`warning: ${line}`);
    if (errors > 0)
      throw new HostError("settings_invalid", `${count(errors, "error")} in the settings`, {
        next: "fairlead settings schema describes every key; fairlead settings path shows the files",
      });
    const read = settings.files.filter(({ state }) => state === "read").length;
    const warnings = problems.length === 0 ? safe`nothing wrong` : safe`${count(problems.length, "warning")}, no error`;
    out.say(safe`${warnings} (${count(read, "settings file")} read)`);
  },
};
