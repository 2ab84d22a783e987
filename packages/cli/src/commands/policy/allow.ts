/** `fairlead policy allow`: writes a rule of yours. */

import type { Verb } from "../../shell/verb.ts";
import { createRuleVerb } from "./rule-verb.ts";

export const verb: Verb = createRuleVerb("allow");
