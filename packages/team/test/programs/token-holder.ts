/**
 * One replica with the sign-ins of many users whose access tokens have expired: prints `ready`, begins with the first line
 * of stdin, asks for all tokens at once, and prints what each user has.
 */

import { once } from "node:events";
import { HostError, systemClock } from "@fairlead/core";
import { createBoundedFetch } from "@fairlead/core/connect";
import { UserGrants } from "../../src/sign-in/user-grants.ts";
import { KeyRing } from "../../src/store/key-ring.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";

const [url = "", keys = "", serverUrl = "", count = "0"] = process.argv.slice(2);
const store = await openPostgresStore({ url, ring: KeyRing.parse(keys, "keys") });
const grants = new UserGrants({
  ...store,
  fetchFor: (near) => createBoundedFetch({ near, env: {}, maxRedirects: 0 }),
  next: () => "Sign in.",
  redirectUri: "https://gateway.example/oauth/callback",
  clock: systemClock,
  now: Date.now,
  random: Math.random,
});

process.stdout.write("ready\n");
await once(process.stdin, "data");
const tokens = await Promise.all(
  Array.from({ length: Number(count) }, async (_, index) => {
    const target = { serverName: "notes", serverUrl, pin: undefined };
    const keeper = grants.of({ tenant: 1, principal: `iss#user-${index}` }).keeperOf(target);
    for (;;) {
      try {
        return (await keeper.current(serverUrl))?.tokens?.accessToken ?? "signed out";
      } catch (error) {
        // On a busy machine, the wait for one of the four connections can be too long. A client sends its request again.
        if (!(error instanceof HostError) || error.code !== "unreachable") throw error;
      }
    }
  }),
);
await grants[Symbol.asyncDispose]();
await store.close();
process.stdout.write(`${JSON.stringify(tokens)}\n`);
process.stdin.destroy();
