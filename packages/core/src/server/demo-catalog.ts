/** The demo server's catalog, which is known without a connection. */

import { promptDefinitions, resourceDefinitions, templateDefinitions } from "../demo/resources.ts";
import { toolDefinitions } from "../demo/tools.ts";
import type { Catalog } from "./catalog.ts";

/** The lists that a session with the demo server would read. */
export const demoCatalog: Catalog = {
  tools: toolDefinitions,
  prompts: promptDefinitions,
  resources: resourceDefinitions,
  resourceTemplates: templateDefinitions,
  dropped: [],
  repaired: [],
  truncated: [],
};
