/** A real authorization server on its own port. In a test, only the browser is replaced. */

import { type WebReply, type WebRequest, webServer } from "../web-server.ts";
import { json, notFound, send } from "./answer.ts";
import { type Authority, type Call, type Handler, readCall } from "./authority.ts";
import { answerAuthorize } from "./authorize.ts";
import { answerActivate, answerDevice, findDevice } from "./device.ts";
import { checkProof } from "./dpop.ts";
import { createFaults, type Fault } from "./faults.ts";
import { publicKeys } from "./id-token.ts";
import { answerMetadata, metadataPath } from "./metadata.ts";
import { answerRegistration } from "./registration.ts";
import { answerRevoke } from "./revoke.ts";
import { type AuthorizationSettings, defaultSettings } from "./settings.ts";
import { type AccessToken, createStore, findLiveToken } from "./store.ts";
import { answerToken } from "./token.ts";

type Endpoint = "metadata" | "registration" | "authorize" | "token" | "device" | "activate" | "revoke" | "keys";

export interface SeenCall extends Call {
  readonly endpoint: Endpoint;
}

export interface AuthorizationServer extends AsyncDisposable {
  readonly origin: string;
  readonly issuer: string;
  readonly settings: AuthorizationSettings;
  /** Every request so far to an endpoint, in order. */
  readonly seen: readonly SeenCall[];
  /** Every request so far, including requests to unknown paths. */
  readonly requests: readonly WebRequest[];
  /**
   * Every code, token, client secret, state and verifier so far. Tests check that none of them appears anywhere else.
   */
  readonly secrets: ReadonlySet<string>;
  /**
   * Returns the requests to this endpoint so far. For the token endpoint, `grantType` selects requests of that type.
   */
  readonly callsTo: (endpoint: Endpoint, grantType?: string) => readonly SeenCall[];
  readonly findLiveToken: (token: string) => AccessToken | undefined;
  /** Checks that a request to an MCP server proves the possession of its token's key. */
  readonly checkProof: (proof: Parameters<typeof checkProof>[0]) => ReturnType<typeof checkProof>;
  /** Makes every access token so far expire. */
  readonly expireTokens: () => void;
  /** Ends every grant so far, as if the person had revoked it on the server's own page. */
  readonly revokeGrants: () => void;
  /** Deletes every client that has registered. */
  readonly forgetClients: () => void;
  readonly decideDevice: (userCode: string, decision: "approve" | "deny" | "expire") => void;
  /** Answers the next requests to this endpoint with the fault. Several faults apply in the order of the calls. */
  readonly interrupt: (endpoint: Endpoint, fault: Fault, times?: number) => void;
  /** Sets the reply for all paths that do not belong to the authorization server. */
  readonly mount: (reply: WebReply) => void;
}

export interface WebPlace {
  readonly port?: number;
  readonly secure?: boolean;
}

const handlers: Readonly<Record<Endpoint, Handler>> = {
  metadata: answerMetadata,
  registration: answerRegistration,
  authorize: answerAuthorize,
  token: answerToken,
  device: answerDevice,
  activate: answerActivate,
  revoke: answerRevoke,
  keys: () => json(publicKeys()),
};

export async function authorizationServer({
  port,
  secure,
  ...changes
}: Partial<AuthorizationSettings> & WebPlace = {}): Promise<AuthorizationServer> {
  const settings: AuthorizationSettings = { ...defaultSettings(), ...changes };
  const store = createStore();
  const seen: SeenCall[] = [];
  const faults = createFaults<Endpoint, Fault>();
  let otherwise: WebReply = (_request, response) => send(response, notFound());

  const web = await webServer(
    (request, response) => {
      const endpoint = endpointAt(request, settings);
      if (!endpoint) return otherwise(request, response);
      const call = readCall(request);
      seen.push({ endpoint, ...call });
      const usual = async () => {
        const answer = await handlers[endpoint](call, authority);
        const date = new Date(authority.now()).toUTCString();
        return { ...answer, headers: { date, ...answer.headers } };
      };
      const fault = faults.take(endpoint);
      if (fault) return fault(request, response, usual);
      usual().then(
        (answer) => send(response, answer),
        (error: unknown) => send(response, json({ error: "server_error", error_description: String(error) }, 500)),
      );
    },
    { ...(port !== undefined && { port }), ...(secure !== undefined && { secure }) },
  );
  const { origin } = web;
  const now = (): number => Date.now() + settings.clockLead;
  const authority: Authority = { issuer: `${origin}${settings.issuerPath}`, settings, store, now };

  return {
    origin,
    issuer: authority.issuer,
    settings,
    seen,
    requests: web.seen,
    secrets: store.secrets,
    callsTo: (endpoint, grantType) =>
      seen.filter((call) => call.endpoint === endpoint && (!grantType || call.params.get("grant_type") === grantType)),
    checkProof: (proof) => checkProof(proof, authority),
    findLiveToken: (token) => findLiveToken(store, token, now()),
    expireTokens() {
      for (const token of store.accessTokens.values()) token.expiresAt = 0;
    },
    revokeGrants() {
      for (const { grant } of store.accessTokens.values()) grant.isRevoked = true;
    },
    forgetClients: () => store.clients.clear(),
    decideDevice(userCode, decision) {
      const device = findDevice(store.devices, userCode);
      if (!device) throw new Error(`no device waits for ${userCode}`);
      device.decision = decision;
    },
    interrupt: (endpoint, fault, times = 1) => faults.add(endpoint, fault, times),
    mount(reply) {
      otherwise = reply;
    },
    [Symbol.asyncDispose]: () => web[Symbol.asyncDispose](),
  };
}

function endpointAt({ method, path }: WebRequest, settings: AuthorizationSettings): Endpoint | undefined {
  const [asked = ""] = path.split("?");
  if (asked === metadataPath(settings)) return "metadata";
  if (!asked.startsWith(settings.issuerPath)) return undefined;
  switch (`${method} ${asked.slice(settings.issuerPath.length)}`) {
    case "GET /authorize":
    case "POST /authorize":
      return "authorize";
    case "POST /token":
      return "token";
    case "POST /register":
      return settings.registration === "absent" ? undefined : "registration";
    case "POST /revoke":
      return settings.hasRevocation ? "revoke" : undefined;
    case "POST /device":
      return settings.hasDeviceFlow ? "device" : undefined;
    case "GET /activate":
    case "POST /activate":
      return settings.hasDeviceFlow ? "activate" : undefined;
    case "GET /keys":
      return "keys";
  }
  return undefined;
}
