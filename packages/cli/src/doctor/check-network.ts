/** What the environment says about proxies and certificates. Pure; values may hold passwords and are shown without them. */

import type { Environment } from "@fairlead/core/settings/read/paths";
import { parseUrl } from "@fairlead/wire/text";
import { hideInUrl } from "../output/servers/server-redaction.ts";
import { hidden } from "../output/servers/server-secrets.ts";
import type { Observation } from "./finding.ts";

/** Files with certificates that a variable names: what is wrong with each, if anything is. */
export const certificateVariables = [
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
] as const;

export interface NetworkFacts extends Pick<Environment, "env"> {
  /** By the variable's name; those that are set and in order are not among them. */
  readonly badCertificates: ReadonlyMap<string, string>;
  /** Some server is reached by its address. */
  readonly isUsed: boolean;
}

export function checkNetwork({ env, badCertificates, isUsed }: NetworkFacts): readonly Observation[] {
  const good = certificateVariables.filter((name) => (env[name] ?? "") !== "" && !badCertificates.has(name));
  return [
    ...proxies(env, isUsed),
    ...(good.length === 0 ? [] : [{ severity: "ok", message: `certificates from ${good.join(", ")}` } as const]),
    ...[...badCertificates].map(
      ([name, flaw]): Observation => ({
        severity: "warning",
        message: `${name} is ${env[name]}, and does nothing: ${flaw}`,
        next: `unset ${name}`,
      }),
    ),
    ...(env["NODE_TLS_REJECT_UNAUTHORIZED"] === "0" ? [unchecked] : []),
  ];
}

const unchecked: Observation = {
  severity: "warning",
  message:
    "NODE_TLS_REJECT_UNAUTHORIZED is 0: no certificate is checked, and whoever is on the way can pass for any server",
  next: "unset NODE_TLS_REJECT_UNAUTHORIZED",
};

type Env = Environment["env"];

function proxies(env: Env, isUsed: boolean): readonly Observation[] {
  const found = ["https_proxy", "http_proxy", "all_proxy"].flatMap((name) => proxy(name, env, isUsed));
  const direct = settingOf("no_proxy", env);
  if (found.length === 0) return [{ severity: "ok", message: "no proxy" }];
  if (direct === undefined) return found;
  return [
    ...found,
    direct.value.trim() === "*"
      ? { severity: "note", message: `${direct.name} is *: no proxy is used`, next: `unset ${direct.name}` }
      : { severity: "ok", message: `not through it: ${hideAccount(direct.value)}` },
  ];
}

function proxy(name: string, env: Env, isUsed: boolean): readonly Observation[] {
  const set = settingOf(name, env);
  if (set === undefined) return [];
  const other = env[name.toUpperCase()] ?? "";
  const differs: Observation = {
    severity: "warning",
    message: `${name} and ${name.toUpperCase()} are not the same; the first one counts`,
    next: `unset ${name.toUpperCase()}`,
  };
  return [
    isProxy(set.value) ? named(set) : noProxy(set.name, isUsed),
    ...(other !== "" && other !== set.value ? [differs] : []),
  ];
}

/** A word that was never meant as an address can still be the name of a host. */
function named({ name, value }: Setting): Observation {
  const shown = hideAccount(value);
  if (value.includes("://") || /:\d+\/?$/.test(value)) return { severity: "ok", message: `${name} is ${shown}` };
  return {
    severity: "warning",
    message: `${name} is ${shown}, which is taken for the name of a host: it has no scheme and no port`,
    next: `export ${name}=http://HOST:PORT`,
  };
}

/** Up to the last `@`, wherever it stands: a password that was not encoded may hold whatever ends one elsewhere. */
function hideAccount(value: string): string {
  return hideInUrl(value.replace(/^(https?:\/\/)?.*@/is, `$1${hidden}@`));
}

/** Nothing of it is shown: what cannot be read cannot be known to hold no password. */
function noProxy(name: string, isUsed: boolean): Observation {
  return {
    ...(isUsed ? { severity: "problem", code: "proxy" } : { severity: "warning" }),
    message: `${name} is not the address of a proxy: it must be http://HOST:PORT or https://HOST:PORT`,
    next: `export ${name}=http://HOST:PORT`,
  };
}

/** Without a scheme, that of what is asked for is taken. */
function isProxy(value: string): boolean {
  const text = value.includes("://") ? value : `http://${value}`;
  return /^https?:$/.test(parseUrl(text)?.protocol ?? "");
}

interface Setting {
  readonly name: string;
  readonly value: string;
}

/** The name in small letters counts first, as in most programs. */
function settingOf(name: string, env: Env): Setting | undefined {
  for (const spelling of [name, name.toUpperCase()]) {
    const value = env[spelling] ?? "";
    if (value !== "") return { name: spelling, value };
  }
  return undefined;
}
