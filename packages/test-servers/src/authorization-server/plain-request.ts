/** Sends one request without following redirects. Trusts the certificate of these tests. */

import { request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import { text } from "node:stream/consumers";
import { certificate } from "../certificate.ts";

export interface PlainAnswer {
  readonly status: number;
  readonly location?: string;
  readonly body: string;
}

export function plainRequest(address: string | URL, form?: URLSearchParams): Promise<PlainAnswer> {
  const url = new URL(address);
  const options = {
    method: form ? "POST" : "GET",
    headers: form ? { "content-type": "application/x-www-form-urlencoded" } : {},
    // A kept-alive connection would prevent its server from closing.
    agent: false as const,
  };
  return new Promise((resolve, reject) => {
    const request =
      url.protocol === "https:" ? requestSecure(url, { ...options, ca: certificate }) : requestPlain(url, options);
    request.on("error", reject);
    request.on("response", (response) => {
      const { statusCode: status = 0, headers } = response;
      text(response).then(
        (body) => resolve({ status, body, ...(headers.location && { location: headers.location }) }),
        reject,
      );
    });
    request.end(form?.toString());
  });
}
