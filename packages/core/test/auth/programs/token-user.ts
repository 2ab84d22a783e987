/** Uses the sign-ins of a state folder: `token-user STATE URL`. Each line on stdin is a token that was refused; what is got in its place goes to stdout. With a third argument it kills itself before it stores a token. */

import { createInterface } from "node:readline";
import { createTokenKeeper } from "../../../src/auth/oauth/refresh.ts";
import { openTokenStorage, signInFolder } from "../../../src/auth/store/token-storage.ts";
import { systemClock } from "../../../src/clock.ts";
import { createBoundedFetch } from "../../../src/net/bounded-fetch.ts";

const [state = "", url = "", dies] = process.argv.slice(2);
const storage = openTokenStorage({ state, env: {}, platform: "linux" });
if (dies !== undefined)
  storage.saveCredentials = async () => {
    process.kill(process.pid, "SIGKILL");
    await new Promise(() => {});
  };
const keeper = createTokenKeeper({
  storage,
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
