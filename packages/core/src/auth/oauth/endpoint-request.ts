/** Posts a form to an endpoint of the authorization server, with the client's authentication. */

import type { Fetch } from "../../net/bounded-fetch.ts";
import type { StoredClient } from "../store/credentials.ts";
import { clientProof } from "./client-authentication.ts";

/** A form for an endpoint. */
export interface EndpointRequest {
  readonly url: string;
  readonly client: StoredClient;
  readonly parameters: Readonly<Record<string, string>>;
  readonly fetch: Fetch;
}

/** Rejects with the error of `fetch`; the request may have arrived nevertheless. */
export function postForm({ url, client, parameters, fetch }: EndpointRequest): Promise<Response> {
  const proof = clientProof(client);
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json", ...proof.headers },
    body: new URLSearchParams({ ...parameters, ...proof.parameters }).toString(),
    // The form contains secrets for this endpoint only.
    redirect: "error",
  });
}
