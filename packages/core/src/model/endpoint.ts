/** The URLs of a model's API. */

/** Returns the URL of a path below the base URL, and keeps the query of the base URL. */
export function endpointOf(baseUrl: string, path: string): URL {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/${path}`;
  return url;
}
