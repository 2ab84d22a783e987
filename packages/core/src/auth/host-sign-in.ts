/** Signs in to the servers of one host, and adds the credentials to their HTTP requests. */

import { HostError } from "../errors.ts";
import { once } from "../files/once.ts";
import type { HostSettings, ServerDefinition } from "../settings/define/definition.ts";
import { expandAuthentication } from "../settings/define/expand.ts";
import type { Configuration } from "../trust/configuration.ts";
import { unlessAborted } from "../unless-aborted.ts";
import type { ServerAuth, SignInRequest } from "./auth-hook.ts";
import type { SignInUi } from "./browser/sign-in-ui.ts";
import type { MachineObserver } from "./machine/machine-auth.ts";
import type { MCPOAuthProvider, SignInServer } from "./oauth/oauth-provider.ts";
import type { Credentials } from "./store/credentials.ts";
import { bringsOwnHeader, pinOf } from "./store/sign-in-state.ts";
import type { MCPOAuthTokenStorage } from "./store/token-storage.ts";
import type { UserSignIns } from "./user-sign-ins.ts";

/** The parts of a configuration that a sign-in reads. */
export interface SignInConfiguration extends Pick<Configuration, "environment"> {
  readonly locations: Pick<Configuration["locations"], "state">;
  readonly settings: { readonly host: Pick<HostSettings, "clientMetadataUrl" | "googleHosts"> };
}

/** Configuration, secrets and user interface for signing in. */
export interface HostSignInOptions {
  readonly configuration: () => SignInConfiguration;
  readonly secret: (name: string) => Promise<string | undefined>;
  /** The token store. Default: the store of this installation. */
  readonly tokens?: MCPOAuthTokenStorage | undefined;
  /** Stores the sign-ins of the host's user elsewhere. `tokens` and `ways` then serve only machine credentials. */
  readonly signIns?: UserSignIns | undefined;
  /** How to ask the user; absent if the user cannot be asked. */
  readonly ways?: SignInUi | undefined;
}

/** Signs in to the servers of one host. */
export interface HostSignIn {
  /**
   * Returns the hook that adds credentials to a server's requests. Undefined if the settings already contain an
   * `Authorization` header.
   */
  readonly hookFor: (
    definition: ServerDefinition,
    serverUrl: string,
    observe?: MachineObserver,
    /** Reads the secrets of this connection. Default: the option `secret`. */
    secretOfConnection?: HostSignInOptions["secret"],
  ) => Promise<ServerAuth | undefined>;
  /**
   * Signs in before the server requires it. Undefined if the server has no URL, if the user cannot be asked, or if
   * neither the server nor its settings name an authorization server.
   */
  readonly signIn: (definition: ServerDefinition, signal: AbortSignal) => Promise<Credentials | undefined>;
  /** The account that is signed in; undefined if it is not known. */
  readonly accountAt: (definition: ServerDefinition, serverUrl: string) => Promise<string | undefined>;
}

/** Creates the sign-in of a host. It opens the token store when first needed. */
export function createHostSignIn({ configuration, secret, tokens, signIns, ways }: HostSignInOptions): HostSignIn {
  // The environment and the state folder do not change while a host runs, so they are read only once.
  const { environment, locations } = configuration();
  const { env, platform } = environment;
  const inTurn = createTurns();
  let made: { readonly metadataUrl: string | undefined; readonly provider: Promise<MCPOAuthProvider> } | undefined;

  const storage = once(async () => {
    if (tokens) return tokens;
    const { openTokenStorage } = await import("./store/token-storage.ts");
    return openTokenStorage({ state: locations.state, env, platform });
  });

  function provider(): Promise<MCPOAuthProvider> {
    const { clientMetadataUrl: metadataUrl } = configuration().settings.host;
    if (made?.metadataUrl !== metadataUrl || made === undefined)
      made = { metadataUrl, provider: makeProvider(metadataUrl) };
    return made.provider;
  }

  async function makeProvider(clientMetadataUrl: string | undefined): Promise<MCPOAuthProvider> {
    const [{ MCPOAuthProvider: Provider }, { signInFolder }] = await Promise.all([
      import("./oauth/oauth-provider.ts"),
      import("./store/token-storage.ts"),
    ]);
    return new Provider({
      storage: await storage(),
      lockFolder: signInFolder(locations.state),
      env,
      clientMetadataUrl,
    });
  }

  async function hasCredentials(serverUrl: string, pin: string | undefined): Promise<boolean> {
    if (tokens) return (await tokens.pinned(pin).getCredentials(serverUrl)) !== undefined;
    const { isPerhapsStored } = await import("./store/sign-in-state.ts");
    return isPerhapsStored(locations.state, serverUrl, pin);
  }

  async function serverOf(
    definition: ServerDefinition,
    serverUrl: string,
    read: HostSignInOptions["secret"],
  ): Promise<SignInServer> {
    const authentication = await expandAuthentication(definition, read);
    const oauth = authentication.provider === "oauth" ? authentication.oauth : {};
    const { name: serverName, scope, extras } = definition;
    const { issuerOverride } = extras;
    const pin = await pinOf(definition);
    return { serverName, serverUrl, oauth, issuerOverride, pin, isFromWorkspace: scope === "workspace" };
  }

  /** Only one sign-in runs at a time, because there is only one user and one terminal. */
  function authenticate(server: SignInServer, person: SignInUi, signal: AbortSignal): Promise<Credentials> {
    const asked = { ...person, ...callbackPort(env, person) };
    return inTurn(async () => (await provider()).authenticate(server, asked, signal), signal);
  }

  async function oauthHook(
    definition: ServerDefinition,
    serverUrl: string,
    read: HostSignInOptions["secret"],
  ): Promise<ServerAuth> {
    const [{ createAuthHook }, pin] = await Promise.all([import("./auth-hook.ts"), pinOf(definition)]);
    if (signIns !== undefined) {
      const target = { serverName: definition.name, serverUrl, pin };
      return createAuthHook({
        ...target,
        hasCredentials: async () => true,
        keeper: async () => signIns.keeperOf(target),
        signIn: async (request) => {
          throw signIns.signInNeeded(target, request);
        },
      });
    }
    const isForced = ways?.again === true;
    const note = async (text: string | undefined): Promise<void> => {
      const { setSignInNote } = await import("./store/sign-in-notes.ts");
      await setSignInNote(locations.state, "wanted", { serverUrl, pin }, text);
    };
    return createAuthHook({
      serverName: definition.name,
      serverUrl,
      hasCredentials: () => hasCredentials(serverUrl, pin),
      keeper: async () => (await provider()).keeper(pin),
      signIn:
        ways &&
        (async (wish: SignInRequest, signal) =>
          authenticate({ ...(await serverOf(definition, serverUrl, read)), ...wish }, ways, signal)),
      isForced,
      need: {
        async want(refused) {
          const { tokenDigest } = await import("./store/sign-in-notes.ts");
          await note(refused === undefined ? "" : await tokenDigest(refused));
        },
        forget: () => note(undefined),
      },
    });
  }

  async function machineHook(
    definition: ServerDefinition,
    serverUrl: string,
    read: HostSignInOptions["secret"],
    observe: MachineObserver = () => {},
  ): Promise<ServerAuth> {
    const [{ createMachineHook }, { signInFolder }, pin] = await Promise.all([
      import("./machine/machine-auth.ts"),
      import("./store/token-storage.ts"),
      pinOf(definition),
    ]);
    return createMachineHook(definition, {
      serverUrl,
      secret: read,
      hasCredentials: () => hasCredentials(serverUrl, pin),
      storage: (await storage()).pinned(pin),
      lockFolder: signInFolder(locations.state),
      env,
      observe,
    });
  }

  return {
    async hookFor(definition, serverUrl, observe, read = secret) {
      if (definition.extras.machineAuth !== undefined) return machineHook(definition, serverUrl, read, observe);
      const { authentication } = definition;
      switch (authentication.provider) {
        case "google": {
          const { createGoogleHook } = await import("./google/google.ts");
          const { googleHosts: hosts } = configuration().settings.host;
          return createGoogleHook(definition, { serverUrl, environment, secret: read, hosts });
        }
        case "sa-impersonation": {
          const { createServiceAccountHook } = await import("./google/service-account.ts");
          const { googleHosts: hosts } = configuration().settings.host;
          return createServiceAccountHook(definition, { serverUrl, environment, hosts });
        }
        case "oauth":
          return bringsOwnHeader(definition) ? undefined : oauthHook(definition, serverUrl, read);
      }
    },
    async signIn(definition, signal) {
      const { urlOf } = await import("./store/sign-in-state.ts");
      const serverUrl = await urlOf(definition, secret);
      if (serverUrl === undefined || ways === undefined) return undefined;
      const server = await serverOf(definition, serverUrl, secret);
      return (await (await provider()).offersSignIn(server)) ? authenticate(server, ways, signal) : undefined;
    },
    async accountAt(definition, serverUrl) {
      const pin = await pinOf(definition);
      if (signIns !== undefined)
        return (await signIns.keeperOf({ serverName: definition.name, serverUrl, pin }).current(serverUrl))?.account;
      if (!(await hasCredentials(serverUrl, pin))) return undefined;
      return (await (await storage()).pinned(pin).getCredentials(serverUrl))?.account;
    },
  };
}

function callbackPort(env: Configuration["environment"]["env"], ways: SignInUi): Pick<SignInUi, "callbackPort"> {
  const text = env["OAUTH_CALLBACK_PORT"] ?? "";
  if (ways.callbackPort !== undefined || text === "") return {};
  const port = Number(text);
  if (/^\d+$/.test(text) && port > 0 && port < 65_536) return { callbackPort: port };
  throw new HostError("usage", `OAUTH_CALLBACK_PORT is ${JSON.stringify(text)}, which is not a port number`, {
    next: "Set it to a number from 1 to 65535, or unset it.",
  });
}

function createTurns(): <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work, signal) => {
    const turn = unlessAborted(last, signal, () => new HostError("cancelled", "the sign-in was cancelled"));
    const mine = turn.then(work);
    // A cancelled sign-in may end before the earlier one. The next sign-in waits for both.
    last = Promise.allSettled([last, mine]);
    return mine;
  };
}
