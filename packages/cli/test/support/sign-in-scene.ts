/** A machine with one server that wants people to sign in, for one test. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type AuthorizationServer,
  type AuthorizationSettings,
  authorizationServer,
  type GuardedServer,
  type GuardSettings,
  guardedServer,
  until,
} from "@fairlead/test-servers";
import { type Machine, machine, userFile } from "./machine.ts";
import { pathOf, shellProgram } from "./path-program.ts";

export interface SignInScene extends AsyncDisposable {
  readonly here: Machine;
  readonly authorization: AuthorizationServer;
  readonly guarded: GuardedServer;
  /** The address that the browser was told to open, as soon as it was. */
  readonly opened: () => Promise<string>;
}

export interface SceneOptions {
  readonly authorization?: Partial<AuthorizationSettings>;
  readonly guard?: Partial<GuardSettings>;
  readonly env?: Readonly<Record<string, string>>;
}

/** At a desk: with a screen, and a browser that writes down what it is told to open. */
export async function signInScene({
  authorization: settings,
  guard,
  env = {},
}: SceneOptions = {}): Promise<SignInScene> {
  const authorization = await authorizationServer(settings);
  const guarded = await guardedServer({ authorization, scopes: ["read"], ...guard });
  const here = await machine({ [userFile]: { mcpServers: { docs: { httpUrl: guarded.url } } } });
  const file = join(here.path, "opened");
  await shellProgram(here, "programs/xdg-open", `printf '%s\\n' "$1" > "${file}"`);
  const machineEnv = {
    ...here.env,
    PATH: pathOf(here, "programs"),
    FAIRLEAD_SECRET_STORE: "file",
    DISPLAY: ":0",
    ...env,
  };
  return {
    here: { ...here, env: machineEnv, run: (...argv) => here.runWith({ env: machineEnv }, ...argv) },
    authorization,
    guarded,
    async opened() {
      // A line that has its end is whole.
      await until(() => existsSync(file) && readFileSync(file, "utf8").endsWith("\n"));
      return readFileSync(file, "utf8").trim();
    },
    async [Symbol.asyncDispose]() {
      await here[Symbol.asyncDispose]();
      await guarded[Symbol.asyncDispose]();
      await authorization[Symbol.asyncDispose]();
    },
  };
}

/** The address on the screen, which fills a line of its own. */
export function addressOn(screen: string): string {
  const address = /^http\S+[?&]code_challenge=\S+$/m.exec(screen)?.[0];
  if (address === undefined) throw new Error(`no address on the screen:\n${screen}`);
  return address;
}
