/** Finds the addresses of resources that a server's result shows to the client. */

import type { JsonObject } from "@fairlead/wire";
import { isObject, listOf, member, objectOf } from "@fairlead/wire/json";
import { isTaskMethod } from "./tasks.ts";

const none: readonly string[] = [];

/** Returns the URIs of linked and embedded resources, and of the parts of a resource. */
export function linksIn(method: string, result: JsonObject): readonly string[] {
  if (isTaskMethod(method)) return isObject(result["result"]) ? linksIn("tools/call", result["result"]) : none;
  switch (method) {
    case "tools/call":
      return urisOf(listOf(result["content"]));
    case "prompts/get":
      return urisOf(listOf(result["messages"]).map((message) => member(message, "content")));
    case "resources/read":
      return listOf(result["contents"]).flatMap(uriOf);
    default:
      return none;
  }
}

function urisOf(blocks: readonly unknown[]): readonly string[] {
  if (!blocks.some(isResource)) return none;
  return blocks.filter(isResource).flatMap((block) => uriOf(objectOf(block)["resource"] ?? block));
}

function isResource(block: unknown): boolean {
  const type = member(block, "type");
  return type === "resource_link" || type === "resource";
}

function uriOf(holder: unknown): readonly string[] {
  const uri = member(holder, "uri");
  return typeof uri === "string" ? [uri] : none;
}
