/** A server of the settings that signs in with Google credentials, and Google itself, for one test. */

import { type GoogleServer, type GoogleSettings, googleServer } from "@fairlead/test-servers";
import type { AuthHook } from "@fairlead/wire";
import { createGoogleHook, type GoogleHookOptions } from "../../../src/auth/google/google.ts";
import { createServiceAccountHook } from "../../../src/auth/google/service-account.ts";
import type { ServerDefinition } from "../../../src/settings/define/definition.ts";
import { createWorld, serverOf } from "../../support/load-settings.ts";

export const cloudPlatform = "https://www.googleapis.com/auth/cloud-platform";
export const serverUrl = "https://tools.googleapis.com/mcp";
export const target = "target@project.iam.gserviceaccount.com";

export interface GoogleScene extends AsyncDisposable {
  readonly google: GoogleServer;
  readonly hookFor: (entry: object, options?: Partial<GoogleHookOptions>) => Promise<AuthHook>;
  /** Where the file of the credentials is. */
  readonly file: string;
  readonly writeCredentials: (content: string | object) => Promise<string>;
}

export interface SceneOptions extends Partial<GoogleSettings> {
  readonly env?: Readonly<Record<string, string>>;
  readonly credentials?: (google: GoogleServer) => object | string | undefined;
}

export async function googleScene({
  env = {},
  credentials = ({ personFile }) => personFile,
  ...settings
}: SceneOptions = {}): Promise<GoogleScene> {
  const google = await googleServer(settings);
  const world = await createWorld();
  const path = "home/.config/gcloud/application_default_credentials.json";
  const content = credentials(google);
  if (content !== undefined) await world.folder.write(path, content);
  return {
    google,
    file: `${world.folder.path}/${path}`,
    writeCredentials: (other) => world.folder.write(path, other),
    async hookFor(entry, options = {}) {
      await world.writeUser({ mcpServers: { cloud: { httpUrl: serverUrl, ...entry } } });
      const { definition, problems } = serverOf(await world.load(), "cloud");
      if (definition === undefined) throw new Error(JSON.stringify(problems));
      const shared = {
        serverUrl: urlOf(definition),
        environment: world.environment(env),
        fetch: google.fetch,
        hosts: [],
        ...options,
      };
      if (definition.authentication.provider === "sa-impersonation")
        return createServiceAccountHook(definition, shared);
      return createGoogleHook(definition, { secret: async () => undefined, ...shared });
    },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await google[Symbol.asyncDispose]();
    },
  };
}

function urlOf({ transport }: ServerDefinition): string {
  return transport.kind === "stdio" ? "" : transport.url;
}

/** The headers of one request. */
export function headersOf(hook: AuthHook, url = serverUrl): Promise<Readonly<Record<string, string>>> {
  return hook.headers({ url, method: "POST" });
}

/** A refusal of what was sent. */
export function refusal(sent: Readonly<Record<string, string>>, attempt = 0, status: 401 | 403 = 401) {
  return { status, url: serverUrl, wwwAuthenticate: undefined, headers: {}, sent, attempt };
}
