/** Computes what the lock file stores of a server: a digest of everything that a model is shown. Pure. */

import { createHash } from "node:crypto";
import type { Catalog, CatalogPrompt } from "../../discover/catalog.ts";
import { definitionDigest } from "../../discover/tool-changes.ts";
import { canonicalJson } from "../../text/canonical-json.ts";
import type { LockedCatalog } from "./lock-file.ts";

/** Returns the locked form of a catalog. */
export function lockCatalog({ tools, prompts, instructions }: Catalog, version: string | undefined): LockedCatalog {
  return {
    ...(version !== undefined && { version }),
    ...(instructions !== undefined && { instructions: digestOf(instructions) }),
    prompts: new Map(prompts.map((prompt) => [prompt.name, promptDigest(prompt)])),
    tools: new Map(tools.map((tool) => [tool.name, definitionDigest(tool)])),
  };
}

/** The digest of the server's instructions. */
export function instructionsDigest({ instructions }: Catalog): string | undefined {
  return instructions === undefined ? undefined : digestOf(instructions);
}

/** The digest of a prompt's definition. */
export function promptDigest(prompt: CatalogPrompt): string {
  return digestOf(promptText(prompt));
}

/** Everything of a prompt that the user or a model is shown, as JSON. */
export function promptText({ name, title, description, arguments: wanted }: CatalogPrompt): string {
  return canonicalJson({ name, title, description, arguments: wanted });
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
