/** Replacements of Google's endpoints, all on one port: the machine's metadata, OAuth tokens, IAM credentials. */

import { notFound, send } from "../authorization-server/answer.ts";
import { type Call, readCall } from "../authorization-server/authority.ts";
import { createFaults, type Fault } from "../authorization-server/faults.ts";
import { type WebRequest, webServer } from "../web-server.ts";
import { type CloudHandler, createCloud, type GivenToken, type GoogleSettings } from "./cloud.ts";
import { answerAccessToken, answerIdToken, iamMethod } from "./iam.ts";
import { answerMachine, machineRoot } from "./machine.ts";
import { answerExchange, answerOAuth } from "./oauth.ts";

type GoogleEndpoint = "metadata" | "token" | "exchange" | "generateIdToken" | "generateAccessToken";

export interface GoogleCall extends Call {
  readonly endpoint: GoogleEndpoint;
}

export interface GoogleServer extends AsyncDisposable {
  readonly origin: string;
  /** For `GCE_METADATA_HOST`. */
  readonly metadataHost: string;
  readonly settings: GoogleSettings;
  readonly seen: readonly GoogleCall[];
  readonly callsTo: (endpoint: GoogleEndpoint) => readonly GoogleCall[];
  /** Access tokens issued so far, with their text as the key. */
  readonly tokens: ReadonlyMap<string, GivenToken>;
  readonly idTokens: ReadonlySet<string>;
  /** The content of a service account's key file, as Google issues it. */
  readonly serviceAccountFile: Readonly<Record<string, string>>;
  /** The content of the file that `gcloud auth application-default login` writes. */
  readonly personFile: Readonly<Record<string, string>>;
  /** Sends requests for Google's URLs to this server. Any other URL is an error. */
  readonly fetch: (url: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /** Answers the next requests to this endpoint with the fault. */
  readonly interrupt: (endpoint: GoogleEndpoint, fault: Fault, times?: number) => void;
}

const handlers: Readonly<Record<GoogleEndpoint, CloudHandler>> = {
  metadata: answerMachine,
  token: answerOAuth,
  exchange: answerExchange,
  generateIdToken: answerIdToken,
  generateAccessToken: answerAccessToken,
};

const googleHosts = [
  "oauth2.googleapis.com",
  "sts.googleapis.com",
  "iamcredentials.googleapis.com",
  "169.254.169.254",
  "metadata.google.internal",
  "metadata.google.internal.",
];

export async function googleServer(changes: Partial<GoogleSettings> = {}): Promise<GoogleServer> {
  const settings: GoogleSettings = {
    machine: {
      email: "machine@project.iam.gserviceaccount.com",
      scopes: ["https://www.googleapis.com/auth/cloud-platform"],
    },
    project: "project",
    expiresIn: 3600,
    impersonable: ["target@project.iam.gserviceaccount.com"],
    workloadOf: (subjectToken) => `workload:${subjectToken}`,
    refreshError: undefined,
    ...changes,
  };
  const cloud = createCloud(settings);
  const seen: GoogleCall[] = [];
  const faults = createFaults<GoogleEndpoint, Fault>();
  const web = await webServer((request, response) => {
    const endpoint = endpointAt(request);
    if (!endpoint) return send(response, notFound());
    const call = readCall(request);
    seen.push({ endpoint, ...call });
    const fault = faults.take(endpoint);
    if (fault) return fault(request, response, async () => handlers[endpoint](call, cloud));
    send(response, handlers[endpoint](call, cloud));
  });
  const { origin } = web;
  const { serviceAccount, person } = cloud;

  return {
    origin,
    metadataHost: new URL(origin).host,
    settings,
    seen,
    callsTo: (endpoint) => seen.filter((call) => call.endpoint === endpoint),
    tokens: cloud.tokens,
    idTokens: cloud.idTokens,
    get serviceAccountFile() {
      return {
        type: "service_account",
        project_id: settings.project,
        private_key_id: "only",
        private_key: serviceAccount.keys().privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
        client_email: serviceAccount.email,
        client_id: "1",
        token_uri: "https://oauth2.googleapis.com/token",
      };
    },
    personFile: {
      type: "authorized_user",
      client_id: person.clientId,
      client_secret: person.clientSecret,
      refresh_token: person.refreshToken,
      quota_project_id: "quota-project",
    },
    async fetch(address, init) {
      const asked = new Request(address, init);
      const { hostname, pathname, search } = new URL(asked.url);
      if (!googleHosts.includes(hostname)) throw new Error(`not one of Google's addresses: ${asked.url}`);
      return fetch(`${origin}${pathname}${search}`, asked);
    },
    interrupt: (endpoint, fault, times = 1) => faults.add(endpoint, fault, times),
    [Symbol.asyncDispose]: () => web[Symbol.asyncDispose](),
  };
}

function endpointAt({ method, path }: WebRequest): GoogleEndpoint | undefined {
  const [asked = ""] = path.split("?");
  if (method === "GET" && asked.startsWith(machineRoot)) return "metadata";
  if (method !== "POST") return undefined;
  if (asked === "/v1/token") return "exchange";
  return asked === "/token" ? "token" : iamMethod(asked);
}
