/** How a sign-in asks the person, and what it shows. */

/** What the person sees before the browser opens the sign-in page. */
export interface ConsentRequest {
  readonly serverName: string;
  /** The address of the sign-in page. */
  readonly url: string;
  readonly domain: string;
  readonly issuer: string;
  /** The host of the token endpoint. Undefined if it is the issuer's host. */
  readonly tokenHost?: string;
  readonly scopes: readonly string[];
}

/** Functions and options with which a program lets a person sign in. */
export interface SignInUi {
  /**
   * Asks whether to open the browser. False ends the sign-in. Undefined means that the person opens the address.
   * Without this function, only `oauth.enabled` in the settings opens the browser.
   */
  readonly consent?: (request: ConsentRequest, signal: AbortSignal) => Promise<boolean | undefined>;
  /** Opens the browser. Resolves with false if that fails. Then the person opens the address. */
  readonly openBrowser?: (url: string) => Promise<boolean>;
  /** Shows a message. Its texts come from servers and may contain terminal control characters. */
  readonly show: (message: SignInMessage) => void;
  /**
   * Asks for the address of the redirect. Resolves with undefined if the input has ended. Called again if the text is
   * unusable.
   */
  readonly paste?: (signal: AbortSignal) => Promise<string | undefined>;
  /**
   * Asks for the client ID that the person got from the authorization server. Resolves with an empty text if there is
   * none.
   */
  readonly askClientId?: (
    request: {
      readonly serverName: string;
      readonly issuer: string;
      readonly redirectUri: string;
      /** Why Fairlead could not register a client itself. */
      readonly why: string;
    },
    signal: AbortSignal,
  ) => Promise<string>;
  /** Chooses one of several authorization servers. Default: the first. */
  readonly chooseIssuer?: (issuers: readonly string[], signal: AbortSignal) => Promise<string>;
  /** If true, the person signs in on another device, with a code that Fairlead shows (RFC 8628). */
  readonly device?: boolean;
  /** If false, Fairlead only shows the address and opens no browser (over SSH, in containers, with `--no-browser`). */
  readonly browserFirst: boolean;
  /**
   * The port on which Fairlead waits for the redirect (`OAUTH_CALLBACK_PORT`). Default: the port in the redirect URI,
   * or a free port.
   */
  readonly callbackPort?: number;
  /** The scopes to request. Default: those in the settings, or those that the server names. */
  readonly scopes?: readonly string[];
  /** If true, the person signs in although a token is stored (for example with another account). */
  readonly again?: boolean;
}

/** What a sign-in shows (for example the address to open, or the code to enter). */
export type SignInMessage =
  /** The setting `issuerOverride` replaces the issuers that the MCP server names (`instead`). */
  | { readonly kind: "issuer_override"; readonly issuer: string; readonly instead: readonly string[] }
  /** Shown before the browser opens. If `isListening` is false, the person must paste the address of the redirect. */
  | ({
      readonly kind: "address";
      readonly redirectUri: string;
      readonly isListening: boolean;
      readonly canPaste: boolean;
    } & ConsentRequest)
  | { readonly kind: "browser"; readonly isOpened: boolean }
  | { readonly kind: "paste_unusable"; readonly reason: string }
  /** The person can no longer paste an address, for this `reason`. Fairlead still waits for the redirect. */
  | { readonly kind: "paste_over"; readonly reason: string }
  | {
      readonly kind: "device";
      readonly serverName: string;
      readonly issuer: string;
      readonly tokenHost?: string;
      readonly verificationUri: string;
      readonly verificationUriComplete?: string;
      readonly userCode: string;
      readonly minutes: number;
    }
  /** The granted scopes differ from the requested ones. */
  | { readonly kind: "scopes_differ"; readonly requested: readonly string[]; readonly granted: readonly string[] }
  | {
      readonly kind: "signed_in";
      readonly serverName: string;
      readonly issuer: string;
      readonly tokenHost?: string;
      readonly scopes: readonly string[];
      readonly account?: string;
    };
