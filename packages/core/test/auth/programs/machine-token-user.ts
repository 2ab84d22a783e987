/** Uses a machine's tokens: `machine-token-user STATE URL METADATA SETTINGS`. Each line on stdin is a token that was refused, or nothing; what is got in its place goes to stdout. */

import { createInterface } from "node:readline";
import { createMachineAuth } from "../../../src/auth/machine/machine-auth.ts";
import { openTokenStorage, signInFolder } from "../../../src/auth/store/token-storage.ts";
import { systemClock } from "../../../src/clock.ts";
import { createBoundedFetch } from "../../../src/net/bounded-fetch.ts";
import type { MachineAuthSettings } from "../../../src/settings/define/definition.ts";

const [state = "", serverUrl = "", resourceMetadata = "", settings = ""] = process.argv.slice(2);
const { keeper, signIn } = createMachineAuth({
  serverName: "docs",
  serverUrl,
  settings: async () => JSON.parse(settings) as MachineAuthSettings,
  storage: openTokenStorage({ state, env: {}, platform: "linux" }),
  lockFolder: signInFolder(state),
  env: {},
  fetchNear: (near) => createBoundedFetch({ near, env: {} }),
  clock: systemClock,
  now: Date.now,
  random: Math.random,
  observe: () => {},
});
process.stdout.write("ready\n");
for await (const token of createInterface({ input: process.stdin })) {
  const asked = token === "" ? undefined : await keeper.refused(serverUrl, token);
  const { tokens } = asked ?? (await signIn({ challenge: { resourceMetadata } }, new AbortController().signal));
  process.stdout.write(`${tokens?.accessToken}\n`);
}
