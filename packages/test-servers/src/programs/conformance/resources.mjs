// Resources of the conformance server.
import { png } from "./content.mjs";
import { codes, RpcError } from "./rpc-error.mjs";
import { skillResources } from "./skills.mjs";

const resource = (uri, name, mimeType, contents) => ({
  definition: { uri, name, description: `The resource ${name}.`, mimeType },
  contents,
});

const all = [
  resource("test://static-text", "static text", "text/plain", { text: "Text that stays." }),
  resource("test://static-binary", "static image", "image/png", { blob: png }),
  resource("test://watched-resource", "watched", "text/plain", { text: "Text that may change." }),
  ...skillResources,
];

export const resources = all.map(({ definition }) => definition);
export const templates = [
  {
    uriTemplate: "test://template/{id}/data",
    name: "data by id",
    description: "Data of one id.",
    mimeType: "application/json",
  },
];

/**
 * Reads a resource.
 * @returns the result of `resources/read`
 */
export function readResource(uri, era) {
  const found = all.find(({ definition }) => definition.uri === uri);
  if (found) return { contents: [{ uri, mimeType: found.definition.mimeType, ...found.contents }] };
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(String(uri))?.[1];
  if (id !== undefined) return { contents: [{ uri, mimeType: "application/json", text: JSON.stringify({ id }) }] };
  const code = era === "modern" ? codes.invalidParams : codes.resourceNotFound;
  throw new RpcError(code, "no such resource", { uri });
}
