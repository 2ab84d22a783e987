/**
 * What a view (MCP Apps) may load and reach, from its metadata: domains and permissions of `_meta.ui`. A domain enters the
 * header of the view's page, so only a strict form of it is accepted. Pure.
 */

import { webUrl } from "@fairlead/core/connect";
import type { JsonObject } from "@fairlead/wire";
import { isObject, listOf, objectOf } from "@fairlead/wire/json";
import type { DomainUse, RefusedDomain, ViewWishes } from "../../protocol/views.ts";

/** The member of `csp` in the metadata, by what the view uses its domains for. */
const members: readonly (readonly [DomainUse, string])[] = [
  ["connect", "connectDomains"],
  ["load", "resourceDomains"],
  ["frame", "frameDomains"],
  ["base", "baseUriDomains"],
];

/** Maximum number of domains of each use. A person must be able to read them. */
const mostDomains = 30;
const longestName = 253;
const longestShown = 200;

/** Reads what a view wants. Domains that cannot be allowed are refused with the reason. */
export function wishesOf(ui: unknown): ViewWishes {
  const { csp, permissions } = objectOf(ui);
  const domains: Record<DomainUse, string[]> = { connect: [], load: [], frame: [], base: [] };
  const refused: RefusedDomain[] = [];
  for (const [use, name] of members)
    for (const given of new Set(listOf(objectOf(csp)[name]))) {
      const text = typeof given === "string" ? given : JSON.stringify(given);
      const why = domains[use].length < mostDomains ? whyRefused(text, use) : `more than ${mostDomains} domains`;
      if (why === undefined) domains[use].push(text.toLowerCase());
      else if (refused.length < mostDomains) refused.push({ domain: text.slice(0, longestShown), why });
    }
  return { domains, refused, permissions: permissionsOf(permissions) };
}

/** The permissions that a view can want. The console gives none of them. */
function permissionsOf(permissions: unknown): readonly string[] {
  const names = ["camera", "microphone", "geolocation", "clipboardWrite"];
  return isObject(permissions) ? names.filter((name) => isObject(permissions[name]) || permissions[name] === true) : [];
}

/** Names that lead into the user's own network or machine. */
const ownNames = new Set("localhost local internal intranet lan home corp private test onion arpa".split(" "));

function whyRefused(given: string, use: DomainUse): string | undefined {
  const [, scheme = "", wildcard, host = "", port] =
    /^([a-z]+):\/\/(\*\.)?([a-z0-9.-]+)(?::(\d{1,5}))?$/i.exec(given) ?? [];
  if (host === "") return "not of the form https://name or https://*.name";
  if (!(scheme.toLowerCase() === "https" || (use === "connect" && scheme.toLowerCase() === "wss")))
    return "not encrypted, or of another scheme than https";
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return "the port does not exist";
  const labels = host.toLowerCase().split(".");
  if (host.length > longestName || !labels.every((label) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(label)))
    return "not a name of the Internet";
  const last = labels.at(-1) ?? "";
  // Browsers read such a name as an IPv4 address, also in hexadecimal.
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(last)) return "an IP address instead of a name";
  if (labels.length < 2 || ownNames.has(last)) return "a name of your own machine or network";
  if (wildcard !== undefined && labels.length < 2) return "too many names at once";
  return undefined;
}

/** The address that a view wants the person to open. Undefined unless it is one that a view could be allowed to reach. */
export function linkOfView(given: unknown): string | undefined {
  const url = typeof given === "string" ? webUrl(given) : undefined;
  if (url === undefined || whyRefused(url.origin, "load") !== undefined) return undefined;
  return url.href;
}

/** The directives of a view that names no domains: it can draw, and reach nothing. `console`: the page around it. */
export function viewPolicy({ domains }: Pick<ViewWishes, "domains">, around: string, reports: string): string {
  const { connect, load, frame, base } = domains;
  const allow = (directive: string, ...sources: readonly string[]): string =>
    `${directive} ${sources.length === 0 ? "'none'" : sources.join(" ")}`;
  return [
    "default-src 'none'",
    allow("script-src", "'unsafe-inline'", ...load),
    allow("style-src", "'unsafe-inline'", ...load),
    allow("img-src", "data:", "blob:", ...load),
    allow("font-src", "data:", ...load),
    allow("media-src", "data:", "blob:", ...load),
    allow("connect-src", ...connect),
    allow("frame-src", ...frame),
    allow("base-uri", ...base),
    "worker-src 'none'",
    "object-src 'none'",
    "form-action 'none'",
    `frame-ancestors ${around}`,
    `report-uri ${reports}`,
  ].join("; ");
}

/** The members of `hostCapabilities.sandbox` in `ui/initialize`: what the view has really got. */
export function grantedSandbox({ domains }: ViewWishes): JsonObject {
  const csp = Object.fromEntries(
    members.flatMap(([use, name]) => (domains[use].length > 0 ? [[name, domains[use]]] : [])),
  );
  return { permissions: {}, csp };
}
