/** Which extensions of MCP a client and its servers declare to each other through the gateway. */

import type { SharedCapabilities } from "@fairlead/core/host";
import { uiExtension } from "@fairlead/core/server";
import type { JsonObject } from "@fairlead/wire";
import { isObject, member } from "@fairlead/wire/json";
import { tasksExtension } from "./tasks.ts";

/** Limits of what the gateway passes on for one client. No known extension needs more. */
const most = { extensions: 16, name: 200, bytes: 2000 };

/** Returns what a client declares and its servers learn of. */
export function passedOnCapabilities(capabilities: JsonObject): SharedCapabilities {
  return { sampling: isObject(capabilities["sampling"]), extensions: passedOnExtensions(capabilities) };
}

/**
 * Returns the extensions that a client declares and that its servers learn of; undefined if there are none. The gateway
 * itself handles tasks. Declarations that are too large or malformed are left out.
 */
export function passedOnExtensions(capabilities: JsonObject): JsonObject | undefined {
  const { extensions } = capabilities;
  if (!isObject(extensions)) return undefined;
  const passedOn = Object.entries(extensions)
    .filter(([name, value]) => name !== tasksExtension && name !== "__proto__" && isSmall(name, value))
    .slice(0, most.extensions);
  return passedOn.length === 0 ? undefined : Object.fromEntries(passedOn);
}

function isSmall(name: string, value: unknown): boolean {
  return name.length <= most.name && isObject(value) && JSON.stringify(value).length <= most.bytes;
}

/** Whether a client or server declares that it supports views. */
export function hasViews(capabilities: JsonObject | undefined): boolean {
  return isObject(member(capabilities?.["extensions"], uiExtension));
}
