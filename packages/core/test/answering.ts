/** A conversation whose answers a test writes; what it does not write, the demo server answers. */

import type { JsonObject, Session } from "@fairlead/wire";
import { createDemoSession } from "../src/demo/session.ts";

export function answering(answers: Readonly<Record<string, JsonObject>>, capabilities?: JsonObject): Session {
  const session = createDemoSession();
  return {
    ...session,
    capabilities: capabilities ?? session.capabilities,
    request: async (method, params, options) => answers[method] ?? session.request(method, params, options),
  };
}
