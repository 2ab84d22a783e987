/** `fairlead policy ask`: writes an ask rule into your policy file. */

import type { Verb } from "../../shell/verb.ts";
import { createRuleVerb } from "./rule-verb.ts";

export const verb: Verb = createRuleVerb("ask_user");
