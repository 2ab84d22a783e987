/** Builds the environment of a stdio server: variables on an allow-list, and the server's own `env`. Pure. */

import type { Environment } from "../settings/read/paths.ts";

const everywhere = [
  ..."PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM TMPDIR".split(" "),
  ..."HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy".split(" "),
  ..."NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE".split(" "),
];
const onWindows = [
  ..."APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 COMMONPROGRAMFILES".split(" "),
  ..."HOMEDRIVE HOMEPATH USERNAME USERPROFILE SYSTEMDRIVE SYSTEMROOT WINDIR COMSPEC PATHEXT TEMP TMP".split(" "),
  ..."OS NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE".split(" "),
];

/** The environment of a stdio server, with the names of the variables by their source. */
export interface ChildEnvironment {
  /** All variables that the process gets. */
  readonly env: Readonly<Record<string, string>>;
  /** Sorted names of variables that are copied from our environment. */
  readonly passed: readonly string[];
  /** Sorted names of variables that the server's `env` sets. */
  readonly set: readonly string[];
  /** Sorted names of our variables that the process does not get. */
  readonly withheld: readonly string[];
}

/** @param entry The server's expanded `env`. It wins over our environment and may set any variable. */
export function childEnvironment(
  { env, platform }: Pick<Environment, "env" | "platform">,
  entry: ReadonlyMap<string, string>,
): ChildEnvironment {
  // Windows ignores the case of variable names.
  const sameName = (name: string): string => (platform === "win32" ? name.toUpperCase() : name);
  const allowed = new Set([...everywhere, ...(platform === "win32" ? onWindows : [])].map(sameName));
  const named = new Set([...entry.keys()].map(sameName));
  const ours = Object.entries(env).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && !named.has(sameName(pair[0])),
  );
  const isPassed = ([name, value]: readonly [string, string]): boolean =>
    (allowed.has(sameName(name)) || name.startsWith("LC_")) && !isFunction(value);
  const passed = ours.filter(isPassed);
  return {
    env: Object.fromEntries([...passed, ...entry]),
    passed: passed.map(([name]) => name).sort(),
    set: [...entry.keys()].sort(),
    withheld: ours
      .filter((pair) => !isPassed(pair))
      .map(([name]) => name)
      .sort(),
  };
}

/** Old versions of bash run a value that looks like an exported function (Shellshock). */
function isFunction(value: string): boolean {
  return value.startsWith("()");
}
