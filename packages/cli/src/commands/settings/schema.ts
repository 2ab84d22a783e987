/** `fairlead settings schema`: the JSON Schema of the settings file, for editors. */

import { settingsJsonSchema } from "@fairlead/core/settings/schema/json-schema";
import { toSafeJson } from "@fairlead/core/text/safe-text";
import type { Verb } from "../../shell/verb.ts";

export const verb: Verb = {
  help: `
Editors complete and check settings.json when its "$schema" names this file.

Example:
  fairlead settings schema > ~/.gemini/settings.schema.json
  and in ~/.gemini/settings.json:  "$schema": "./settings.schema.json"`,

  async run({ out }) {
    out.print(toSafeJson(settingsJsonSchema()));
  },
};
