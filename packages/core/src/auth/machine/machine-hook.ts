/** Signs in to a server with `machineAuth`. No person is needed. */

import type { AuthHook } from "@fairlead/wire";
import { systemClock } from "../../clock.ts";
import { createBoundedFetch, type Fetch } from "../../net/bounded-fetch.ts";
import { createServerNetwork } from "../../net/server-network.ts";
import type { ServerDefinition } from "../../settings/define/definition.ts";
import { expandMachineAuth } from "../../settings/define/expand.ts";
import { createAuthHook } from "../auth-hook.ts";
import { createMachineAuth, type MachineAuthOptions } from "./machine-auth.ts";

/** What a server with `machineAuth` needs besides its definition. */
export interface MachineHookOptions
  extends Pick<MachineAuthOptions, "serverUrl" | "storage" | "lockFolder" | "env" | "observe"> {
  readonly secret: (name: string) => Promise<string | undefined>;
  readonly hasCredentials: () => Promise<boolean>;
}

/** Creates the hook that adds this machine's token to the server's requests, and renews it. */
export function createMachineHook(definition: ServerDefinition, options: MachineHookOptions): AuthHook {
  const { serverUrl, secret, hasCredentials, env } = options;
  const { name: serverName, extras } = definition;
  const fetches = new Map<string, Fetch>();
  const { keeper, signIn } = createMachineAuth({
    ...options,
    serverName,
    issuerOverride: extras.issuerOverride,
    settings: async () => (await expandMachineAuth(definition, secret)) ?? { kind: "client_credentials" },
    fetchNear(url, { address, ...more } = {}) {
      const key = JSON.stringify([url, address, more]);
      // A `fetch` looks up the IP addresses of its server only once, so each server has its own.
      const near = createServerNetwork(url, { addresses: address === undefined ? undefined : [address] });
      const fetch = fetches.get(key) ?? createBoundedFetch({ near, env, ...more });
      fetches.set(key, fetch);
      return fetch;
    },
    clock: systemClock,
    now: Date.now,
    random: Math.random,
  });
  return createAuthHook({ serverName, serverUrl, hasCredentials, keeper: async () => keeper, signIn, isMachine: true });
}
