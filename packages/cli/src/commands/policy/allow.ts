/** `fairlead policy allow`: writes an allow rule into your policy file. */

import type { Verb } from "../../shell/verb.ts";
import { createRuleVerb } from "./rule-verb.ts";

export const verb: Verb = createRuleVerb("allow");
