/**
 * Addresses that name their server. Servers choose the addresses of their views (`ui://`) and skills (`skill://`) freely,
 * so two servers may use the same one. A client that sees both gets an address with the server's name for one of them:
 * `ui://fairlead.NAME/rest` stands for `ui://rest` of the server NAME. Pure.
 */

/** The schemes whose addresses mean something only together with their server. */
const serverSchemes: ReadonlySet<string> = new Set(["ui", "skill"]);
const nameMark = "fairlead.";

/** An address of a server, as the server itself writes it. */
export interface ServerAddress {
  readonly server: string;
  readonly uri: string;
}

/** Whether two servers may use this address for different things, so that a client needs one for each. */
export function isOfServer(uri: string): boolean {
  return serverSchemes.has(partsOf(uri)?.scheme.toLowerCase() ?? "");
}

/** Returns the address that names its server. Undefined for an address without `//`, which cannot name one. */
export function ownAddress({ server, uri }: ServerAddress): string | undefined {
  const parts = partsOf(uri);
  // A name with half a character cannot be escaped. The address then leads nowhere.
  const name = encodeURIComponent(server.replace(/[\ud800-\udfff]/gu, "\ufffd"));
  return parts && `${parts.scheme}://${nameMark}${name}/${parts.rest}`;
}

/** Returns the server that an address names, and the server's own address. Undefined if it names none. */
export function readOwnAddress(address: string): ServerAddress | undefined {
  const { scheme, rest } = partsOf(address) ?? {};
  if (rest === undefined || !rest.toLowerCase().startsWith(nameMark)) return undefined;
  const end = rest.indexOf("/");
  if (end === -1) return undefined;
  const server = decoded(rest.slice(nameMark.length, end));
  return server === undefined ? undefined : { server, uri: `${scheme}://${rest.slice(end + 1)}` };
}

/**
 * Returns the same text for addresses that a program may take for the same one: they differ in case or in escapes. A
 * template can produce many addresses, so all templates of a scheme count as the same.
 */
export function sameAddress(uri: string): string {
  if (uri.includes("{")) return `${partsOf(uri)?.scheme.toLowerCase()}:{`;
  const plain = uri.replace(/%[0-9a-f]{2}/gi, (escaped) => String.fromCharCode(Number.parseInt(escaped.slice(1), 16)));
  return plain.toLowerCase();
}

function partsOf(uri: string): { readonly scheme: string; readonly rest: string } | undefined {
  const at = uri.indexOf("://");
  return at <= 0 ? undefined : { scheme: uri.slice(0, at), rest: uri.slice(at + 3) };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
