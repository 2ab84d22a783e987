/** Checks proxy and certificate variables, and hides passwords in their values. Pure functions. */

import type { Environment } from "@fairlead/core/settings/read/paths";
import { hidden } from "@fairlead/core/text/hidden-text";
import { parseUrl } from "@fairlead/wire/text";
import { hideInUrl } from "../output/servers/server-redaction.ts";
import { note, type Observation, ok, warning } from "./finding.ts";

/** Environment variables that name additional certificate files or folders. */
export const certificateVariables = [
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
] as const;

/** What the network check needs: environment variables, invalid certificate files, and whether a server has a URL. */
export interface NetworkFacts extends Pick<Environment, "env"> {
  /** What is wrong with each invalid certificate file, by the name of its environment variable. */
  readonly badCertificates: ReadonlyMap<string, string>;
  /** Whether any server has a URL. If none has, the proxy does not matter. */
  readonly isUsed: boolean;
}

/** Reports the proxy and certificate settings, and warns if certificates are not checked. */
export function checkNetwork({ env, badCertificates, isUsed }: NetworkFacts): readonly Observation[] {
  const good = certificateVariables.filter((name) => (env[name] ?? "") !== "" && !badCertificates.has(name));
  return [
    ...proxies(env, isUsed),
    ...(good.length === 0 ? [] : [ok(`certificates from ${good.join(", ")}`)]),
    ...[...badCertificates].map(([name, flaw]) =>
      warning(`${name} (${env[name]}) has no effect: ${flaw}`, `unset ${name}`),
    ),
    ...(env["NODE_TLS_REJECT_UNAUTHORIZED"] === "0" ? [unchecked] : []),
  ];
}

const unchecked: Observation = warning(
  "NODE_TLS_REJECT_UNAUTHORIZED is 0: certificates are not checked, so an attacker on the network can impersonate any server",
  "unset NODE_TLS_REJECT_UNAUTHORIZED",
);

type Env = Environment["env"];

function proxies(env: Env, isUsed: boolean): readonly Observation[] {
  const found = ["https_proxy", "http_proxy", "all_proxy"].flatMap((name) => proxy(name, env, isUsed));
  const direct = settingOf("no_proxy", env);
  if (found.length === 0) return [ok("no proxy")];
  if (direct === undefined) return found;
  return [
    ...found,
    direct.value.trim() === "*"
      ? note(`no proxy is used: ${direct.name} is *`, `unset ${direct.name}`)
      : ok(`without proxy: ${hideAccount(direct.value)}`),
  ];
}

function proxy(name: string, env: Env, isUsed: boolean): readonly Observation[] {
  const set = settingOf(name, env);
  if (set === undefined) return [];
  const other = env[name.toUpperCase()] ?? "";
  const differs: Observation = warning(
    `${name} and ${name.toUpperCase()} differ; ${name} is used`,
    `unset ${name.toUpperCase()}`,
  );
  return [
    isProxy(set.value) ? named(set) : noProxy(set.name, isUsed),
    ...(other !== "" && other !== set.value ? [differs] : []),
  ];
}

/**
 * Reports a valid proxy variable. Warns about a plain host name, because the scheme and port were probably forgotten.
 */
function named({ name, value }: Setting): Observation {
  const shown = hideAccount(value);
  if (value.includes("://") || /:\d+\/?$/.test(value)) return ok(`${name} is ${shown}`);
  return warning(
    `${name} is ${shown}, which has no scheme and no port: Fairlead uses the value as a host name`,
    `export ${name}=http://HOST:PORT`,
  );
}

/**
 * Hides the name and password in a proxy URL: everything before the last "@", because an unencoded password may contain
 * "@" or "/".
 */
function hideAccount(value: string): string {
  return hideInUrl(value.replace(/^(https?:\/\/)?.*@/is, `$1${hidden}@`));
}

/** Reports an invalid proxy variable without its value, because the value may contain a password at any place. */
function noProxy(name: string, isUsed: boolean): Observation {
  return {
    severity: isUsed ? "problem" : "warning",
    code: isUsed ? "proxy" : undefined,
    message: `${name} is not a proxy URL: it must be http://HOST:PORT or https://HOST:PORT`,
    next: `export ${name}=http://HOST:PORT`,
  };
}

/** Whether the value is a proxy URL. A value without a scheme is valid too. */
function isProxy(value: string): boolean {
  const text = value.includes("://") ? value : `http://${value}`;
  return /^https?:$/.test(parseUrl(text)?.protocol ?? "");
}

interface Setting {
  readonly name: string;
  readonly value: string;
}

/** Reads a proxy variable. The lower-case name takes precedence over the upper-case name, as in most programs. */
function settingOf(name: string, env: Env): Setting | undefined {
  for (const spelling of [name, name.toUpperCase()]) {
    const value = env[spelling] ?? "";
    if (value !== "") return { name: spelling, value };
  }
  return undefined;
}
