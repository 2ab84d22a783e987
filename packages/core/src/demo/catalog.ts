/** The demo server's catalog, which is known without a connection. */

import type { Catalog } from "../discover/catalog.ts";
import { promptDefinitions } from "./prompts.ts";
import { resourceDefinitions, templateDefinitions } from "./resources.ts";
import { toolDefinitions } from "./tools.ts";

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
