/** Uses the sign-ins of a state folder: `token-user STATE URL`. Each line on stdin is a token that was refused; what is got in its place goes to stdout. */

import { createInterface } from "node:readline";
import { createTokenKeeper } from "../../../src/auth/oauth/refresh.ts";
import { openTokenStorage, signInFolder } from "../../../src/auth/store/token-storage.ts";
import { systemClock } from "../../../src/clock.ts";
import { createBoundedFetch } from "../../../src/net/bounded-fetch.ts";

const [state = "", url = ""] = process.argv.slice(2);
const keeper = createTokenKeeper({
  storage: openTokenStorage({ state, env: {}, platform: "linux" }),
  lockFolder: signInFolder(state),
  fetchFor: (near) => createBoundedFetch({ near, env: {}, maxRedirects: 0 }),
  clock: systemClock,
  now: Date.now,
  random: Math.random,
});
process.stdout.write(`${(await keeper.current(url))?.tokens?.accessToken}\n`);
for await (const token of createInterface({ input: process.stdin })) {
  const outcome = await keeper.refused(url, token).catch(String);
  process.stdout.write(`${typeof outcome === "string" ? outcome : outcome?.tokens?.accessToken}\n`);
}
