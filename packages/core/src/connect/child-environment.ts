/** What a server that is a program sees of our environment: an allow-list, and what its entry sets. Pure. */

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

export interface ChildEnvironment {
  /** The whole of it. */
  readonly env: Readonly<Record<string, string>>;
  /** Names, sorted: taken over from ours. */
  readonly passed: readonly string[];
  /** Set by the entry. */
  readonly set: readonly string[];
  /** Ours alone. */
  readonly withheld: readonly string[];
}

/** `entry`: what the entry's `env` sets, expanded; it wins, and may name what is never passed on by itself. */
export function childEnvironment(
  { env, platform }: Pick<Environment, "env" | "platform">,
  entry: ReadonlyMap<string, string>,
): ChildEnvironment {
  // Windows does not tell `Path` from `PATH`.
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

/** Old shells run what they take for an exported function. */
function isFunction(value: string): boolean {
  return value.startsWith("()");
}
