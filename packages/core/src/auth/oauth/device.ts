/**
 * Signs in with a device code (RFC 8628): shows a short code, and asks for tokens until the person has entered the code
 * in a browser.
 */

import { parseObject, textIn } from "@fairlead/wire/json";
import { type Clock, sleep } from "../../clock.ts";
import { webUrl } from "../../net/open-url.ts";
import { present } from "../../settings/schema/present.ts";
import type { SignInMessage } from "../browser/sign-in-ui.ts";
import type { StoredTokens } from "../store/credentials.ts";
import { askForTokens, reasonIn, type TokenRequestOptions } from "./code-exchange.ts";
import { otherTokenHost } from "./discovery.ts";
import { clientProof, postForm } from "./endpoint-request.ts";
import { explainFailure, type Fail } from "./failure.ts";

/** What a sign-in with a device code needs. */
export interface DeviceOptions extends TokenRequestOptions {
  readonly serverName: string;
  readonly clock: Clock;
  readonly scopes: readonly string[];
  readonly show: (message: SignInMessage) => void;
  readonly signal: AbortSignal;
}

interface DeviceCode {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly verificationUri: string;
  readonly verificationUriComplete?: string;
  /** How long the code is valid, in milliseconds. `interval` is the time between two token requests. */
  readonly lifetime: number;
  readonly interval: number;
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
  const code = await askForDeviceCode(options);
  const { deviceCode, lifetime, interval: first, ...shown } = code;
  const { userCode, verificationUri, verificationUriComplete } = shown;
  show({
    kind: "device",
    serverName,
    issuer: plan.issuer,
    ...present({ tokenHost: otherTokenHost(plan.issuer, plan.endpoints.token) }),
    userCode,
    verificationUri,
    ...present({ verificationUriComplete }),
    minutes: Math.ceil(lifetime / 60_000),
  });
  const end = clock.now() + lifetime;
  for (let interval = first; clock.now() < end; ) {
    await sleep(clock, interval, signal);
    const grant = { grant_type: "urn:ietf:params:oauth:grant-type:device_code", device_code: deviceCode };
    const answer = await askForTokens(grant, options);
    if (answer.kind === "tokens") return answer.tokens;
    if (answer.kind === "error" && answer.error === "authorization_pending") continue;
    // If the server is busy or asks for fewer requests, Fairlead waits longer. The person can still enter the code.
    const isTooFast = answer.kind === "error" && answer.error === "slow_down";
    if (!isTooFast && answer.kind !== "unavailable")
      throw fail(step, `${plan.issuer} refused the sign-in: ${reasonIn(answer, [deviceCode])}`);
    interval += slowDown;
  }
  throw fail(step, `the code ${userCode} was not entered in time`);
}

async function askForDeviceCode({ plan, client, scopes, audiences, post, fail }: DeviceOptions): Promise<DeviceCode> {
  const { device: url } = plan.endpoints;
  if (url === undefined)
    throw fail(step, `${plan.issuer} does not offer sign-in with a device code`, {
      next: "Sign in without --device.",
    });
  const parameters = {
    // Some servers look for the client ID only in the form, even if there is a Basic header.
    client_id: client.clientId,
    resource: plan.resource,
    ...(scopes.length > 0 && { scope: scopes.join(" ") }),
    ...(audiences.length > 0 && { audience: audiences.join(" ") }),
  };
  const asked = postForm({ url, proof: clientProof(client), parameters, fetch: post });
  const response = await explainFailure(asked, (words, cause) =>
    fail(step, `${url} cannot be reached: ${words}`, { cause }),
  );
  return readDeviceCode(await response.text(), `${url} answered ${response.status}`, fail);
}

function readDeviceCode(text: string, what: string, fail: Fail): DeviceCode {
  const answer = parseObject(text) ?? {};
  const [deviceCode, userCode] = [textIn(answer, "device_code"), textIn(answer, "user_code")];
  const verificationUri = webUrl(textIn(answer, "verification_uri") ?? textIn(answer, "verification_url") ?? "")?.href;
  if (
    deviceCode === undefined ||
    userCode === undefined ||
    verificationUri === undefined ||
    userCode.length > longestCode
  )
    throw fail(
      step,
      `${what}${textIn(answer, "error") === undefined ? " without a device code" : ` (${textIn(answer, "error")})`}`,
    );
  return {
    deviceCode,
    userCode,
    verificationUri,
    ...present({ verificationUriComplete: webUrl(textIn(answer, "verification_uri_complete") ?? "")?.href }),
    lifetime: secondsIn(answer["expires_in"], longestLifetime, longestLifetime) * 1000,
    interval: secondsIn(answer["interval"], defaultInterval, longestInterval) * 1000,
  };
}

function secondsIn(value: unknown, usual: number, most: number): number {
  return typeof value === "number" && value > 0 ? Math.min(value, most) : usual;
}
