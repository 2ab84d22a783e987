/** The interface through which a sign-in asks the person questions and shows messages. */

/** The question whether the browser may open the sign-in page. */
export interface ConsentRequest {
  readonly serverName: string;
  /** The address that the browser would open. */
  readonly url: string;
  readonly domain: string;
  readonly issuer: string;
  /** The token endpoint's host. Absent if the issuer has the same host. */
  readonly tokenHost?: string;
  readonly scopes: readonly string[];
}

/** How a program asks the person questions, opens the browser and shows messages during a sign-in. */
export interface SignInUi {
  /**
   * Asks whether the browser may be opened. If the result is false, the sign-in ends. If the result is undefined, the
   * person opens the address. Without this function, the browser is opened only if the settings have `oauth.enabled`.
   */
  readonly consent?: (request: ConsentRequest, signal: AbortSignal) => Promise<boolean | undefined>;
  /**
   * Opens the browser. Resolves with false if no browser could be opened. In that case the person opens the address.
   */
  readonly openBrowser?: (url: string) => Promise<boolean>;
  /** Shows a message. The texts in the message come from servers and are not escaped. */
  readonly show: (message: SignInMessage) => void;
  /**
   * Resolves with the address that the person pasted, or with undefined if the input has ended. Called again if the
   * pasted text is unusable.
   */
  readonly paste?: (signal: AbortSignal) => Promise<string | undefined>;
  /**
   * Asks for the ID of a client that the person registered with the authorization server. Resolves with an empty text
   * if the person has registered none.
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
  /** Chooses one of several authorization servers. Without this function, Fairlead uses the first one. */
  readonly chooseIssuer?: (issuers: readonly string[], signal: AbortSignal) => Promise<string>;
  /** If true, signs in with a code that the person enters on another device (RFC 8628). */
  readonly device?: boolean;
  /** If false, Fairlead shows the address but opens no browser: over SSH, in containers and with `--no-browser`. */
  readonly browserFirst: boolean;
  /** The port on which Fairlead waits for the redirect (`OAUTH_CALLBACK_PORT`). Default: a free port. */
  readonly callbackPort?: number;
  /** Scopes to request, instead of those in the settings or those that the server names. */
  readonly scopes?: readonly string[];
  /** If true, signs in even if a token is stored, so that the person can choose another account or other scopes. */
  readonly again?: boolean;
}

/** @deprecated The new name is `SignInUi`. */
export type SignInWays = SignInUi;

/** A message to the user during a sign-in, such as the address to open or the code to enter. */
export type SignInMessage =
  /**
   * Fairlead uses the `issuer` from the setting `issuerOverride`, and ignores the issuers that the MCP server names
   * (`instead`).
   */
  | { readonly kind: "issuer_override"; readonly issuer: string; readonly instead: readonly string[] }
  /** Shown before a browser opens. If `isListening` is false, the person must paste the address of the redirect. */
  | ({
      readonly kind: "address";
      readonly redirectUri: string;
      readonly isListening: boolean;
      readonly canPaste: boolean;
    } & ConsentRequest)
  | { readonly kind: "browser"; readonly isOpened: boolean }
  | { readonly kind: "paste_unusable"; readonly reason: string }
  /** The person can no longer paste an address, because the input has ended. Fairlead still waits for the browser. */
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
