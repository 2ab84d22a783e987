/** One form posted to an endpoint of the authorization server, as the client that was registered there. */

import type { Fetch } from "../../net/bounded-fetch.ts";
import type { StoredClient } from "../store/credentials.ts";
import { clientProof } from "./client-authentication.ts";

export interface EndpointRequest {
  readonly url: string;
  readonly client: StoredClient;
  readonly parameters: Readonly<Record<string, string>>;
  readonly fetch: Fetch;
}

/** Rejects with what `fetch` rejects with: nobody knows then whether the request arrived. */
export function postForm({ url, client, parameters, fetch }: EndpointRequest): Promise<Response> {
  const proof = clientProof(client);
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json", ...proof.headers },
    body: new URLSearchParams({ ...parameters, ...proof.parameters }).toString(),
    // What is sent here is meant for nobody else.
    redirect: "error",
  });
}
