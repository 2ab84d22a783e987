/** `fairlead policy deny`: writes a deny rule into your policy file. */

import type { Verb } from "../../shell/verb.ts";
import { createRuleVerb } from "./rule-verb.ts";

export const verb: Verb = createRuleVerb("deny");
