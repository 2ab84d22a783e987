/** Finds literal secrets in an entry, and secrets that settings refer to but that are not stored. */

import { HostError } from "@fairlead/core/errors";
import { type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { objectOf } from "@fairlead/wire/json";
import type { Context } from "../../shell/verb.ts";

const tellingName =
  /token|secret|passw|pwd$|api[-_]?key|access[-_]?key|private[-_]?key|[-_]key$|^key$|credential|authorization|cookie|[-_]auth$|[-_]pat$|^auth/i;
// Names that contain a word such as "key" or "token", but whose values are not secrets.
const harmlessName =
  /(type|method|mode|scheme|url|uri|limit|budget|file|path|dir|name|length|expiry|ttl)$|max[-_]?tokens/i;
// Prefixes of keys of well-known services, signed tokens, and PEM keys.
const tellingValue =
  /^(Bearer\s+|Basic\s+|Token\s+)?((sk|pk|rk)[-_]\w|gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|AKIA[0-9A-Z]|AIza|npm_\w{20}|eyJ[\w-]+\.|-----BEGIN)|^(Bearer|Basic)\s+\S/i;
const reference = /\$(?!\$)(\{|[A-Za-z_])/;

/** Whether a variable, header or option has a literal secret as its value. */
export function looksSecret(name: string, value: string): boolean {
  // `$$` stands for a dollar sign. Any other `$NAME` refers to a value that is stored elsewhere.
  if (value === "" || reference.test(value.replaceAll("$$", ""))) return false;
  return isTellingName(name) || tellingValue.test(value);
}

/** Whether the name suggests that the value is a secret, such as `API_KEY`. */
export function isTellingName(name: string): boolean {
  return tellingName.test(name) && !harmlessName.test(name);
}

/** A literal secret in an entry, and the suggested name for it in the secret store. */
export interface SecretHint {
  /** Where the secret is in the entry, for example `env.GITHUB_TOKEN`, or `url (its password)`. */
  readonly key: string;
  /** The name under which the secret should be stored. */
  readonly secret: string;
}

/** Returns the literal secrets in `env`, `headers`, `oauth` and the URLs of an entry. */
export function secretHints(entry: Readonly<Record<string, unknown>>): SecretHint[] {
  const named = ["env", "headers", "oauth"].flatMap((key) => {
    const values = entry[key];
    return Object.entries(objectOf(values)).flatMap(([name, value]: [string, unknown]) =>
      typeof value === "string" && looksSecret(name, value)
        ? [{ key: `${key}.${name}`, secret: secretName(name) }]
        : addressHints(`${key}.${name}`, value),
    );
  });
  return [...named, ...["url", "httpUrl"].flatMap((key) => addressHints(key, entry[key]))];
}

function addressHints(key: string, address: unknown): readonly SecretHint[] {
  if (typeof address !== "string") return [];
  const [, password = ""] = /^[\w+.-]+:\/\/[^/?#:@]*:([^/?#@]*)@/.exec(address) ?? [];
  const parameters = [...address.matchAll(/[?&]([^=&#?\s]+)=([^&#\s]*)/g)]
    .filter(([, name = "", value = ""]) => looksSecret(name, value))
    .map(([, name = ""]) => ({ key: `${key} (its parameter ${name})`, secret: secretName(name) }));
  const isWritten = looksSecret("password", password);
  return [...(isWritten ? [{ key: `${key} (its password)`, secret: "PASSWORD" }] : []), ...parameters];
}

/** Returns the name under which the secret value of a variable, header or option is stored. */
export function secretName(name: string): string {
  return name.toUpperCase().replaceAll(/[^A-Z0-9_]/g, "_");
}

type Missing = ReadonlySet<string>;

/** Finds secrets that settings refer to but that are not stored. Reads only names, so it opens no keychain. */
export async function missingSecrets(
  { servers, locations }: Pick<Configuration, "servers" | "locations">,
  { out }: Pick<Context, "out">,
): Promise<Missing> {
  const mentioned = new Set(servers.flatMap(({ server }) => server.definition?.secrets ?? []));
  if (mentioned.size === 0) return mentioned;
  try {
    const { readSecretNames } = await import("@fairlead/core/files/secrets/secret-names");
    const stored = await readSecretNames(locations.state);
    return new Set([...mentioned].filter((name) => !stored.has(name)));
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    out.warnOnce(safe`warning: ${toSafeLine(error.message)}`);
    return new Set();
  }
}

/** Returns one line for each secret that a server needs to start and that is not stored. */
export function missingSecretLines(secrets: readonly string[], missing: Missing): SafeText[] {
  return secrets
    .filter((name) => missing.has(name))
    .map(toSafeLine)
    .map((name) => safe`the secret ${name} is not stored: fairlead secret set ${name}`);
}
