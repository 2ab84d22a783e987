/** How a person can be reached while they sign in: what a program that embeds the host gives, and what it is told. */

export interface ConsentRequest {
  readonly serverName: string;
  /** The whole address that the browser would open. */
  readonly url: string;
  readonly domain: string;
  readonly issuer: string;
  /** Where the tokens come from, unless it is the issuer's own host. */
  readonly tokenHost?: string;
  readonly scopes: readonly string[];
}

/** How a program reaches the user during a sign-in: asks for consent, opens the browser, shows messages, takes a pasted address. */
export interface SignInUi {
  /**
   * Asks whether the browser may be opened; absent: it is not asked, and opened only where the settings say `oauth.enabled`.
   * False ends the sign-in; undefined leaves it to the person to open the address, and the sign-in goes on.
   */
  readonly consent?: (request: ConsentRequest, signal: AbortSignal) => Promise<boolean | undefined>;
  /** False: nothing could be opened, and the person gets the address to open themselves. */
  readonly openBrowser?: (url: string) => Promise<boolean>;
  /** Told what happens; everything in it is raw text from elsewhere. */
  readonly show: (message: SignInMessage) => void;
  /** Resolves with what the person pasted: the address that the browser ended at; undefined: nothing more can come. Asked again after a paste that is of no use. */
  readonly paste?: (signal: AbortSignal) => Promise<string | undefined>;
  /** Asks for the client ID that the person has registered with the authorization server themselves; empty: none. */
  readonly askClientId?: (
    request: {
      readonly serverName: string;
      readonly issuer: string;
      readonly redirectUri: string;
      /** Why none could be had without asking. */
      readonly why: string;
    },
    signal: AbortSignal,
  ) => Promise<string>;
  /** Chooses between several authorization servers; without it, the first is taken. */
  readonly chooseIssuer?: (issuers: readonly string[], signal: AbortSignal) => Promise<string>;
  /** By a code that is typed on another device, where the authorization server offers that. */
  readonly device?: boolean;
  /** False: the address is shown, and nothing is opened (over SSH, in a container, `--no-browser`). */
  readonly browserFirst: boolean;
  /** `OAUTH_CALLBACK_PORT`; by default the system chooses. */
  readonly callbackPort?: number;
  /** Asked for in place of what the server and its settings say. */
  readonly scopes?: readonly string[];
  /** Signs in although a token is stored: with another account, for other scopes. */
  readonly again?: boolean;
}

/** @deprecated The new name is `SignInUi`. */
export type SignInWays = SignInUi;

/** What the user is told while they sign in, such as the address to open or the code to enter. */
export type SignInMessage =
  /** The settings of the person replace the authorization server that the server names. */
  | { readonly kind: "issuer_override"; readonly issuer: string; readonly instead: readonly string[] }
  /** Shown before anything is opened. `redirectUri` is where we listen, for a port-forward recipe; `isListening` false: only pasting works. */
  | ({
      readonly kind: "address";
      readonly redirectUri: string;
      readonly isListening: boolean;
      readonly canPaste: boolean;
    } & ConsentRequest)
  | { readonly kind: "browser"; readonly isOpened: boolean }
  | { readonly kind: "paste_unusable"; readonly reason: string }
  /** Nothing can be pasted any more; the browser is still waited for. */
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
  /** What was granted is not what was asked for. */
  | { readonly kind: "scopes_differ"; readonly requested: readonly string[]; readonly granted: readonly string[] }
  | {
      readonly kind: "signed_in";
      readonly serverName: string;
      readonly issuer: string;
      readonly tokenHost?: string;
      readonly scopes: readonly string[];
      readonly account?: string;
    };
