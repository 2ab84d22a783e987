/** `fairlead settings validate`: lists every problem in the settings with its file and line. */

import { HostError } from "@fairlead/core/errors";
import { loadPolicies } from "@fairlead/core/policy/rules/load-policies";
import { safe } from "@fairlead/core/text/safe-text";
import { loadConfiguration } from "@fairlead/core/trust/configuration";
import { count } from "../../output/output.ts";
import { problemLines } from "../../output/servers/server-details.ts";
import { missingSecretLines, missingSecrets } from "../../output/servers/server-secrets.ts";
import { optionsIfTrusted } from "../../shell/configuration.ts";
import type { Verb } from "../../shell/verb.ts";

export const verb: Verb = {
  help: `
Reads all settings files, policy files and the trusted folders file, also those of a workspace that is not trusted yet.
Starts no server and writes nothing. An error disables a server or a whole file; a warning has no effect.
Exit code: 3 if there is an error, else 0.

Examples:
  fairlead settings validate
  fairlead settings validate --json -C ~/projects/shop`,

  async run(context) {
    const { out, globals } = context;
    // Not `configurationOf`, which warns about problems: here they are the output.
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
        next: "correct the lines above, then: fairlead settings validate",
      });
    const read = settings.files.filter(({ state }) => state === "read").length;
    const warnings = problems.length === 0 ? safe`no problems` : safe`${count(problems.length, "warning")}, no errors`;
    out.say(safe`${warnings} (${count(read, "settings file")} read)`);
  },
};
