/**
 * Signs in with a device code (RFC 8628): shows a short code, and asks for tokens until the person has entered the code
 * in a browser.
 */

import { parseObject, textIn } from "@fairlead/wire/json";
import { deviceAuthorizationRequest } from "oauth4webapi";
import { type Clock, sleep } from "../../clock.ts";
import { webUrl } from "../../net/open-url.ts";
import { present } from "../../settings/schema/present.ts";
import type { SignInMessage } from "../browser/sign-in-ui.ts";
import type { StoredTokens } from "../store/credentials.ts";
import { parameterOf } from "./challenge.ts";
import { otherTokenHost } from "./discovery.ts";
import { authenticationOf, sendWith } from "./endpoint-request.ts";
import { explainFailure, type Fail } from "./failure.ts";
import { askForTokens, reasonIn, type TokenRequestOptions } from "./token-request.ts";

/** What a sign-in with a device code needs. */
export interface DeviceOptions extends TokenRequestOptions {
  readonly serverName: string;
  readonly clock: Clock;
  readonly scopes: readonly string[];
  readonly show: (message: SignInMessage) => void;
  readonly signal: AbortSignal;
}

const step = "device code";
const defaultInterval = 5;
const slowDown = 5_000;
const longestInterval = 60;
const longestLifetime = 1_800;
const longestCode = 64;

/**
 * Shows the code, and resolves with tokens when the person has signed in.
 *
 * @throws HostError `auth_failed`, or if `signal` is aborted: HostError `cancelled` or the signal's reason
 */
export async function signInByDevice(options: DeviceOptions): Promise<StoredTokens> {
  const { plan, fail, clock, signal, serverName, show } = options;
  const { issuer, token_endpoint } = plan.server;
  const { deviceCode, lifetime, interval: first, ...code } = await askForDeviceCode(options);
  show({
    kind: "device",
    serverName,
    issuer,
    tokenHost: otherTokenHost(issuer, token_endpoint),
    ...code,
    minutes: Math.ceil(lifetime / 60_000),
  });
  const end = clock.now() + lifetime;
  for (let interval = first; clock.now() < end; ) {
    await sleep(clock, interval, signal);
    const grant = "urn:ietf:params:oauth:grant-type:device_code";
    const answer = await askForTokens(grant, { device_code: deviceCode }, options);
    if (answer.kind === "tokens") return answer.tokens;
    if (answer.kind === "error" && answer.error === "authorization_pending") continue;
    // If the server is busy or asks for fewer requests, Fairlead waits longer. The person can still enter the code.
    const isTooFast = answer.kind === "error" && answer.error === "slow_down";
    if (!isTooFast && answer.kind !== "unavailable")
      throw fail(step, `${issuer} refused the sign-in: ${reasonIn(answer)}`);
    interval += slowDown;
  }
  throw fail(step, `the code ${code.userCode} was not entered in time`);
}

async function askForDeviceCode({ plan, client, scopes, audiences, post, fail }: DeviceOptions) {
  const { issuer, device_authorization_endpoint: url } = plan.server;
  if (url === undefined)
    throw fail(step, `${issuer} does not offer sign-in with a device code`, { next: "Sign in without --device." });
  const { resource } = plan;
  const parameters = present({ resource, scope: parameterOf(scopes), audience: parameterOf(audiences) });
  const id = { client_id: client.clientId };
  const asked = deviceAuthorizationRequest(plan.server, id, authenticationOf(client), parameters, sendWith(post));
  const response = await explainFailure(asked, (words, cause) =>
    fail(step, `${url} cannot be reached: ${words}`, { cause }),
  );
  return readDeviceCode(await response.text(), `${url} answered ${response.status}`, fail);
}

/** Returns the codes and addresses in the response. `lifetime` and `interval` are in milliseconds. */
function readDeviceCode(text: string, what: string, fail: Fail) {
  const answer = parseObject(text) ?? {};
  const [deviceCode, userCode] = [textIn(answer, "device_code"), textIn(answer, "user_code")];
  // Google calls the address `verification_url`.
  const verificationUri = webUrl(textIn(answer, "verification_uri") ?? textIn(answer, "verification_url") ?? "")?.href;
  const isWhole = deviceCode !== undefined && userCode !== undefined && verificationUri !== undefined;
  if (!isWhole || userCode.length > longestCode) {
    const error = textIn(answer, "error");
    throw fail(step, `${what} ${error === undefined ? "without a device code" : `(${error})`}`);
  }
  return {
    deviceCode,
    userCode,
    verificationUri,
    verificationUriComplete: webUrl(textIn(answer, "verification_uri_complete") ?? "")?.href,
    lifetime: secondsIn(answer["expires_in"], longestLifetime, longestLifetime) * 1000,
    interval: secondsIn(answer["interval"], defaultInterval, longestInterval) * 1000,
  };
}

function secondsIn(value: unknown, usual: number, most: number): number {
  return typeof value === "number" && value > 0 ? Math.min(value, most) : usual;
}
