/** Formats the messages of a sign-in as text for the user. */

import { existsSync } from "node:fs";
import type { SignInMessage } from "@fairlead/core/auth";
import { joinSafe, type SafeText, safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { Io } from "../shell/verb.ts";

/** Where the user works, and whether a browser opens there. */
export interface Circumstances {
  readonly location: UserLocation;
  /** Whether Fairlead is going to open a browser on this machine. */
  readonly browserFirst: boolean;
}

type AddressMessage = Extract<SignInMessage, { kind: "address" }>;
type DeviceMessage = Extract<SignInMessage, { kind: "device" }>;

/** Returns the lines for one message of a sign-in. Hidden characters are made visible. */
export function messageLines(message: SignInMessage, circumstances: Circumstances): readonly SafeText[] {
  switch (message.kind) {
    case "issuer_override": {
      const instead = message.instead.length === 0 ? safe`` : safe`, not ${listed(message.instead)}`;
      return [
        safe`note: because of issuerOverride in your settings, you sign in at ${toVisibleLine(message.issuer)}${instead}`,
      ];
    }
    case "address":
      return [
        ...addressLines(message),
        ...(circumstances.browserFirst ? [] : byHandLines(message, circumstances.location)),
      ];
    case "browser":
      return message.isOpened
        ? [safe`The browser is open. Sign in there; Fairlead continues when you are done.`]
        : [safe`No browser could be opened here: open the address above yourself.`];
    case "paste_unusable":
      return [safe`The pasted text cannot be used: ${toVisibleLine(message.reason)}.`];
    case "paste_over":
      return [
        safe`You can no longer paste the address: ${toVisibleLine(message.reason)}. Fairlead still waits for the browser.`,
      ];
    case "device":
      return deviceLines(message);
    case "scopes_differ":
      return [safe`note: requested scopes: ${listed(message.requested)}; granted: ${listed(message.granted)}`];
    case "signed_in": {
      const { serverName, account, scopes } = message;
      const who = account === undefined ? safe`` : safe` as ${toVisibleLine(account)}`;
      const what = scopes.length === 0 ? safe`` : safe`, scopes: ${listed(scopes)}`;
      return [safe`Signed in to "${toVisibleLine(serverName)}" at ${issuerWords(message)}${who}${what}.`];
    }
  }
}

function addressLines(message: AddressMessage): readonly SafeText[] {
  const { serverName, domain, scopes, url } = message;
  return [
    safe`"${toVisibleLine(serverName)}" requires a sign-in at ${toVisibleLine(domain)} (authorization server ${issuerWords(message)}).`,
    scopes.length === 0 ? safe`Requested scopes: none` : safe`Requested scopes: ${listed(scopes)}`,
    safe`Full address:`,
    safe``,
    toVisibleLine(url),
    safe``,
  ];
}

/** Returns instructions for a browser on another machine, which cannot reach the redirect listener on this machine. */
export function byHandLines(
  { redirectUri, isListening, canPaste }: Pick<AddressMessage, "redirectUri" | "isListening" | "canPaste">,
  location: UserLocation,
): readonly SafeText[] {
  const { origin, port } = new URL(redirectUri);
  const paste = canPaste
    ? [
        safe`Open the address in a browser on your own machine and sign in. The browser then ends at an address that begins with ${toVisibleLine(origin)}/ and may show an error page. Copy that address and paste it here.`,
      ]
    : [safe`Open the address in a browser and sign in.`];
  if (location !== "ssh" || !isListening) return paste;
  return [
    ...paste,
    safe`Or forward the port, so that you need not paste: before you open the address, run this in another terminal on your machine:`,
    safe`  ssh -L ${toVisibleLine(port)}:127.0.0.1:${toVisibleLine(port)} HOST        (HOST: as in your ssh command)`,
  ];
}

/** Returns the issuer, and the host of the token endpoint if it differs from the issuer's host. */
function issuerWords({ issuer, tokenHost }: Pick<AddressMessage, "issuer" | "tokenHost">): SafeText {
  const where = toVisibleLine(issuer);
  return tokenHost === undefined ? where : safe`${where}, tokens from ${toVisibleLine(tokenHost)}`;
}

function deviceLines(message: DeviceMessage): readonly SafeText[] {
  const { serverName, verificationUri, verificationUriComplete, userCode, minutes } = message;
  return [
    safe`"${toVisibleLine(serverName)}" requires a sign-in (authorization server ${issuerWords(message)}).`,
    safe`On any device, open`,
    safe``,
    toVisibleLine(verificationUri),
    safe``,
    safe`and type this code: ${toVisibleLine(userCode)}`,
    ...(verificationUriComplete === undefined
      ? []
      : [safe`Or open this address, which contains the code: ${toVisibleLine(verificationUriComplete)}`]),
    safe`The code expires in ${minutes} minutes. Waiting for you to finish there.`,
  ];
}

function listed(words: readonly string[]): SafeText {
  return words.length === 0 ? safe`nothing` : joinSafe(words.map(toVisibleLine), safe`, `);
}

/** Where the user works. Only a user at a `desk` can see a browser that Fairlead opens. */
export type UserLocation = "desk" | "ssh" | "container" | "no_screen";

const containerFiles = ["/.dockerenv", "/run/.containerenv"];

/** Guesses where the user works from environment variables and container files. */
export function userLocation(
  { env, platform }: Pick<Io, "env" | "platform">,
  exists: (file: string) => boolean = existsSync,
): UserLocation {
  const isSet = (...names: readonly string[]): boolean => names.some((name) => Boolean(env[name]));
  if (isSet("SSH_CONNECTION", "SSH_TTY")) return "ssh";
  if (isSet("REMOTE_CONTAINERS", "CODESPACES")) return "container";
  if (platform === "darwin" || platform === "win32") return "desk";
  if (isSet("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME", "WSL_INTEROP")) return "desk";
  return containerFiles.some(exists) ? "container" : "no_screen";
}
