/** The addresses of resources in a server's result, and the result with the addresses that the client uses. */

import { viewAddressesOf, withViewAddress } from "@fairlead/core/server";
import type { JsonObject } from "@fairlead/wire";
import { isObject, listOf, member, objectOf } from "@fairlead/wire/json";
import type { BridgeContext } from "./bridge-context.ts";
import type { Forwarded } from "./forward-request.ts";
import { isTaskMethod } from "./tasks.ts";

/**
 * Keeps the addresses in a result for their server, and replaces those that lead to another server for this client. The
 * address that the client has read stays as the client wrote it.
 */
export function withClientAddresses(
  { seeLinks }: Pick<BridgeContext, "seeLinks">,
  { server, method, params, as }: Forwarded,
  result: JsonObject,
): JsonObject {
  const found = addressesIn(method, result);
  if (found.length === 0) return result;
  const linked = seeLinks(server, found);
  const addressOf = (uri: string): string => (as !== undefined && uri === params["uri"] ? as : linked(uri));
  return found.every((uri) => addressOf(uri) === uri) ? result : replaceAddresses(method, result, addressOf);
}

const none: readonly string[] = [];

/** Returns the URIs of linked and embedded resources, of the parts of a resource, and of views. */
function addressesIn(method: string, result: JsonObject): readonly string[] {
  if (isTaskMethod(method)) return isObject(result["result"]) ? addressesIn("tools/call", result["result"]) : none;
  switch (method) {
    case "tools/call": {
      const views = "_meta" in result ? viewAddressesOf(result) : none;
      const linked = addressesOf(listOf(result["content"]));
      return views.length === 0 ? linked : [...views, ...linked];
    }
    case "prompts/get":
      return addressesOf(listOf(result["messages"]).map((message) => member(message, "content")));
    case "resources/read":
      return listOf(result["contents"]).flatMap(uriOf);
    default:
      return none;
  }
}

function addressesOf(blocks: readonly unknown[]): readonly string[] {
  if (!blocks.some(isResource)) return none;
  return blocks
    .filter(isResource)
    .flatMap((block) => [...uriOf(objectOf(block)["resource"] ?? block), ...viewAddressesOf(objectOf(block))]);
}

function isResource(block: unknown): boolean {
  const type = member(block, "type");
  return type === "resource_link" || type === "resource";
}

function uriOf(holder: unknown): readonly string[] {
  const uri = member(holder, "uri");
  return typeof uri === "string" ? [uri] : none;
}

type AddressOf = (uri: string) => string;

function replaceAddresses(method: string, result: JsonObject, addressOf: AddressOf): JsonObject {
  if (isTaskMethod(method))
    return { ...result, result: replaceAddresses("tools/call", objectOf(result["result"]), addressOf) };
  switch (method) {
    case "tools/call":
      return withViewAddress(
        { ...result, content: listOf(result["content"]).map((block) => replacedIn(block, addressOf)) },
        addressOf,
      );
    case "prompts/get":
      return {
        ...result,
        messages: listOf(result["messages"]).map((message) =>
          isObject(message) ? { ...message, content: replacedIn(message["content"], addressOf) } : message,
        ),
      };
    case "resources/read":
      return { ...result, contents: listOf(result["contents"]).map((part) => withUri(part, addressOf)) };
    default:
      return result;
  }
}

function replacedIn(block: unknown, addressOf: AddressOf): unknown {
  if (!isObject(block) || !isResource(block)) return block;
  const { resource } = block;
  const replaced =
    resource === undefined ? withUri(block, addressOf) : { ...block, resource: withUri(resource, addressOf) };
  return withViewAddress(objectOf(replaced), addressOf);
}

function withUri(holder: unknown, addressOf: AddressOf): unknown {
  const uri = member(holder, "uri");
  return isObject(holder) && typeof uri === "string" ? { ...holder, uri: addressOf(uri) } : holder;
}
