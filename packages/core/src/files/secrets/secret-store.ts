/** Opens the secret store: the operating system's keychain if it works, otherwise an encrypted file. */

import type { Clock } from "../../clock.ts";
import { HostError } from "../../errors.ts";
import type { Keychain, SecretStore } from "./secret-port.ts";

export type { SecretStore } from "./secret-port.ts";

/** The state folder and the system whose secret store to open. */
export interface SecretStoreOptions {
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** The keychain; `false` to use none. Default: the operating system's keychain. */
  readonly keychain?: Keychain | false | undefined;
  /** The clock for the timeout of the keychain. Default: the system's clock. */
  readonly clock?: Clock | undefined;
}

const maxValueBytes = 64 * 1024;

/**
 * Opens the store that contains secrets. Without secrets, the choice waits until the first secret is stored. Throws an
 * error if the secrets are in a keychain that cannot be reached. An empty store would look as if the secrets were lost.
 */
export async function openSecretStore(options: SecretStoreOptions): Promise<SecretStore> {
  const { openSecretFile } = await import("./secret-file.ts");
  const file = openSecretFile(options.directory);
  if (isFileForced(options.env) || (await file.isInUse())) return checked(file);
  const { openKeychainStore, readKeychainNames } = await import("./keychain-store.ts");
  const keychain = options.keychain ?? (await findKeychain(options));
  const { length } = await readKeychainNames(options.directory);
  if (!keychain) {
    if (length > 0) throw unreachable(length);
    return checked(file);
  }
  const inKeychain = openKeychainStore(options.directory, keychain);
  if (length > 0) return checked(inKeychain);
  const { openUndecided } = await import("./first-secret.ts");
  return checked(openUndecided(options.directory, keychain, inKeychain, file, options.clock));
}

async function findKeychain(options: SecretStoreOptions): Promise<Keychain | undefined> {
  const { openKeychain } = await import("./keychain.ts");
  return openKeychain(options);
}

function isFileForced(env: SecretStoreOptions["env"]): boolean {
  const choice = env["FAIRLEAD_SECRET_STORE"] ?? "";
  if (choice !== "" && choice !== "file") {
    const message = `FAIRLEAD_SECRET_STORE is ${JSON.stringify(choice)}; the only allowed value is "file"`;
    const next = 'Set it to "file", or unset it to use the keychain of this system.';
    throw new HostError("usage", message, { next });
  }
  return choice === "file";
}

/** Wraps a store. Checks names and values first. */
function checked(store: SecretStore): SecretStore {
  return {
    get backend() {
      return store.backend;
    },
    get: async (name) => store.get(checkedName(name)),
    set: async (name, value) => store.set(checkedName(name), checkedValue(name, value)),
    remove: async (name) => store.remove(checkedName(name)),
    list: async () => [...(await store.list())].sort(),
  };
}

function checkedName(name: string): string {
  if (/^[A-Za-z0-9_.-]{1,128}$/.test(name)) return name;
  throw new HostError("usage", `${JSON.stringify(name)} cannot be the name of a secret`, {
    next: "Use 1 to 128 letters, digits, dots, hyphens and underscores, such as GITHUB_TOKEN.",
  });
}

function checkedValue(name: string, value: string): string {
  const bytes = Buffer.from(value);
  if (value === "") throw new HostError("usage", `the value for the secret ${name} is empty`);
  if (bytes.length > maxValueBytes) {
    throw new HostError("too_large", `the value for the secret ${name} is larger than ${maxValueBytes} bytes`);
  }
  if (bytes.toString() !== value) throw new HostError("usage", `the value for the secret ${name} is not valid text`);
  return value;
}

function unreachable(count: number): HostError {
  const what = count === 1 ? "a secret" : `${count} secrets`;
  return new HostError("internal", `the keychain of this system, which holds ${what}, cannot be reached now`, {
    next: "Start Fairlead in your desktop session. Or set FAIRLEAD_SECRET_STORE=file and store each secret again.",
  });
}
