/** Where the documents about resources and authorization servers lie, in the order in which they are looked for. */

import { parseUrl } from "@fairlead/wire/text";

/** For the server's path, then for its whole origin (RFC 9728 §3.1). */
export function resourceMetadataUrls(serverUrl: string): readonly string[] {
  const { origin, pathname, search } = new URL(serverUrl);
  const root = `${origin}/.well-known/oauth-protected-resource`;
  const path = withoutSlash(pathname);
  return path === "" ? [root] : [`${root}${path}${search}`, root];
}

/** RFC 8414 §3.1, then OpenID Connect Discovery in both of its spellings. */
export function serverMetadataUrls(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = withoutSlash(pathname);
  const inserted = ["oauth-authorization-server", "openid-configuration"].map(
    (name) => `${origin}/.well-known/${name}${path}`,
  );
  return path === "" ? inserted : [...inserted, `${origin}${path}/.well-known/openid-configuration`];
}

/** The `resource` of a server that does not name one: its address without what belongs to a single request. */
export function resourceOf(serverUrl: string): string {
  const { origin, pathname } = new URL(serverUrl);
  return `${origin}${withoutSlash(pathname)}`;
}

/** Whether a token for that resource is meant for this server: for the very same address, or one above it. */
export function covers(resource: string, serverUrl: string): boolean {
  if (parseUrl(resource) === undefined) return false;
  const [whole, part] = [new URL(resource), new URL(serverUrl)];
  if (whole.origin !== part.origin || whole.username !== "" || whole.password !== "") return false;
  if (whole.search !== "" && whole.search !== part.search) return false;
  return `${withoutSlash(part.pathname)}/`.startsWith(`${withoutSlash(whole.pathname)}/`);
}

function withoutSlash(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}
