import type { Verb } from "../shell/verb.ts";
export const verb: Verb = { async run() {} };
