/** Well-known addresses of metadata documents, in the order in which they are tried. */

import { parseUrl } from "@fairlead/wire/text";

/** Addresses of resource metadata (RFC 9728 §3.1): for the server's path, then for its origin. */
export function resourceMetadataUrls(serverUrl: string): readonly string[] {
  const { origin, pathname, search } = new URL(serverUrl);
  const root = `${origin}/.well-known/oauth-protected-resource`;
  const path = withoutSlash(pathname);
  return path === "" ? [root] : [`${root}${path}${search}`, root];
}

/** Addresses of authorization server metadata: RFC 8414 §3.1, then OpenID Connect Discovery in both forms. */
export function serverMetadataUrls(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = withoutSlash(pathname);
  const inserted = ["oauth-authorization-server", "openid-configuration"].map(
    (name) => `${origin}/.well-known/${name}${path}`,
  );
  return path === "" ? inserted : [...inserted, `${origin}${path}/.well-known/openid-configuration`];
}

/** The default `resource` of a server: its URL without query and fragment. */
export function resourceOf(serverUrl: string): string {
  const { origin, pathname } = new URL(serverUrl);
  return `${origin}${withoutSlash(pathname)}`;
}

/** Whether the server is inside that resource: the same origin, and the same path or one below it. */
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
