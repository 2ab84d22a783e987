/** Stores the secrets that a user gives as inputs of a server, under names that no other server uses. */

import { openSecretStore } from "@fairlead/core/files";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust";
import type { NewSecret } from "@fairlead/registry/registry/inputs";
import type { Context } from "../../../shell/verb.ts";

/** Names for secrets that no other server uses: `WEATHER_API_KEY`. */
export async function secretNames(server: string, configuration: Configuration): Promise<(input: string) => string> {
  const { environment, locations } = configuration;
  const { env, platform } = environment;
  const taken = new Set(await (await openSecretStore({ directory: locations.state, env, platform })).list());
  const given = new Map<string, string>();
  const prefix = toName(server);
  return (input) => {
    const before = given.get(input);
    if (before !== undefined) return before;
    const own = toName(input);
    const plain = own.startsWith(prefix) ? own : `${prefix}_${own}`;
    let name = plain;
    for (let number = 2; taken.has(name); number += 1) name = `${plain}_${number}`;
    taken.add(name);
    given.set(input, name);
    return name;
  };
}

function toName(text: string): string {
  return text
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, "_")
    .replace(/^_|_$/g, "");
}

/** Stores secrets, and says how to delete them. */
export async function storeInputSecrets(
  secrets: readonly NewSecret[],
  configuration: Configuration,
  { out }: Context,
): Promise<void> {
  if (secrets.length === 0) return;
  const { environment, locations } = configuration;
  const { env, platform } = environment;
  const store = await openSecretStore({ directory: locations.state, env, platform });
  for (const { name, value } of secrets) {
    await store.set(name, value);
    out.say(safe`stored the secret ${toSafeLine(name)} (to delete it: fairlead secret remove ${toSafeLine(name)})`);
  }
}
