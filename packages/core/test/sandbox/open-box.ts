/** A host with one server in its sandbox, which runs JavaScript that a test sends. */

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { programServer, temporaryFolder } from "@fairlead/test-servers";
import { createHost, type Host } from "../../src/index.ts";

export interface Boxed extends AsyncDisposable {
  readonly host: Host;
  readonly home: string;
  /** Runs code inside, and returns what it returns as text. A failure begins with `failed: `. */
  run(code: string): Promise<string>;
}

export interface BoxedOptions {
  /** Called with the home folder before the server starts. */
  readonly prepare?: (home: string) => Promise<unknown>;
  readonly sandbox?: object | string | ((home: string) => object);
  readonly entry?: object;
  readonly env?: Readonly<Record<string, string>>;
}

export async function openBoxed({ prepare, sandbox = "on", entry, env = {} }: BoxedOptions = {}): Promise<Boxed> {
  const folder = await temporaryFolder();
  const home = join(folder.path, "home");
  await mkdir(home);
  await prepare?.(home);
  const profile = typeof sandbox === "function" ? sandbox(home) : sandbox;
  await folder.write("home/.gemini/settings.json", {
    mcpServers: { s: { ...programServer("evaluator"), ...entry } },
    fairlead: { servers: { s: { sandbox: profile } } },
  });
  const host = await createHost({
    environment: { env: { PATH: process.env["PATH"], ...env }, home, cwd: home, platform: process.platform },
  });
  return {
    host,
    home,
    async run(code) {
      const { content } = await host.call("s", "run", { code });
      const [first] = content as readonly { readonly text?: string }[];
      return first?.text ?? "";
    },
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
