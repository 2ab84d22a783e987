/** Opens the secret store as a command would, with the bus of the second argument: `store-secret FOLDER BUS`. */

import { openSecretStore } from "../../../src/files/secrets/secret-store.ts";

const [directory = "", bus = ""] = process.argv.slice(2);
const env = { DBUS_SESSION_BUS_ADDRESS: bus };
const store = await openSecretStore({ directory, env, platform: "linux" });
const outcome = await store.set("TOKEN", "value").then(
  () => "stored",
  (error: unknown) => String(error),
);
process.stdout.write(`${store.backend}: ${outcome}`);
