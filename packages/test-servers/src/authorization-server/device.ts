/**
 * The device flow (RFC 8628): a code for the device, a shorter code for the person, and the page where the person types
 * it.
 */

import { randomInt } from "node:crypto";
import { type Answer, json, oauthError } from "./answer.ts";
import { type Authority, type Call, scopesIn } from "./authority.ts";
import { authenticateClient } from "./clients.ts";
import { consentPage, messagePage } from "./page.ts";
import { type Client, type Device, type Grant, newSecret } from "./store.ts";

export const deviceGrantType = "urn:ietf:params:oauth:grant-type:device_code";
const letters = "BCDFGHJKLMNPQRSTVWXZ";

export async function answerDevice(call: Call, authority: Authority): Promise<Answer> {
  const { issuer, settings, store } = authority;
  const client = await authenticateClient(call, authority);
  if (typeof client === "string") return oauthError("invalid_client", client, 401);
  const resource = call.params.get("resource");
  if (settings.requiresResource && resource === null) return oauthError("invalid_target", "resource is missing.");
  const scopes = scopesIn(call.params);
  if (!scopes.every((scope) => settings.scopes.includes(scope))) return oauthError("invalid_scope", "No such scope.");
  const deviceCode = newSecret(store, "device");
  const userCode = `${fourLetters()}-${fourLetters()}`;
  const device: Device = { clientId: client.id, userCode, scopes, decision: "pending", ...(resource && { resource }) };
  store.devices.set(deviceCode, device);
  return json({
    device_code: deviceCode,
    user_code: userCode,
    verification_uri: `${issuer}/activate`,
    verification_uri_complete: `${issuer}/activate?user_code=${userCode}`,
    expires_in: 600,
    ...(settings.deviceInterval !== undefined && { interval: settings.deviceInterval }),
  });
}

/** The page on which the person types the code, in any browser. */
export function answerActivate({ request, params }: Call, { store }: Authority): Answer {
  const device = findDevice(store.devices, params.get("request") ?? params.get("user_code") ?? "");
  if (!device) return messagePage("There is no such code.", 404);
  if (request.method !== "POST") return consentPage(device.userCode, device.clientId, device.scopes);
  device.decision = params.get("decision") === "approve" ? "approve" : "deny";
  return messagePage("You can go back to your device.");
}

export function findDevice(devices: ReadonlyMap<string, Device>, userCode: string): Device | undefined {
  return [...devices.values()].find((device) => device.userCode === userCode);
}

/** Returns the grant that the person has given, or the error that tells the device what to do. */
export function deviceGrant(deviceCode: string, client: Client, { settings, store }: Authority): Grant | string {
  const device = store.devices.get(deviceCode);
  if (device?.clientId !== client.id) return "invalid_grant";
  const [error, ...later] = settings.deviceErrors;
  settings.deviceErrors = later;
  if (error) return error;
  switch (device.decision) {
    case "pending":
      return "authorization_pending";
    case "deny":
      return "access_denied";
    case "expire":
      return "expired_token";
    case "approve": {
      store.devices.delete(deviceCode);
      const { clientId, scopes, resource } = device;
      return { clientId, scopes: settings.grants(scopes), isRevoked: false, ...(resource && { resource }) };
    }
  }
}

function fourLetters(): string {
  return Array.from({ length: 4 }, () => letters[randomInt(letters.length)]).join("");
}
