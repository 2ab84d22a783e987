/**
 * Checks that a package belongs to the registry's server: the package itself must name the server. Reads metadata only;
 * no package is fetched.
 */

import { execFile } from "node:child_process";
import { createBoundedFetch, type Fetch, inheritedVariables } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import { listOf, member, objectOf, parseJson, textIn } from "@fairlead/wire/json";
import { parseUrl } from "@fairlead/wire/text";
import { imageOf, type ServerChoice } from "./launch.ts";
import { isOutage, type RegistryContext } from "./mcp-registry.ts";
import type { RegistryPackage } from "./server-json.ts";

/** Whether a package names its server. */
export type PackageProof =
  | { readonly kind: "proven"; readonly by: string }
  /** The package names no server, or that cannot be found out. */
  | { readonly kind: "unproven"; readonly why: string }
  /** The package names another server. */
  | { readonly kind: "mismatch"; readonly found: string; readonly by: string }
  /** There is no package. */
  | { readonly kind: "none" };

/** What a sandboxed program needs to fetch its package when it starts. */
export interface PackageSource {
  /** `name` or `name:port`. */
  readonly hosts: readonly string[];
  /** Variables that lead to the registry: a sandbox hides the user's settings of npm. */
  readonly env: Readonly<Record<string, string>>;
}

/** Where packages are described. Tests use their own. */
export interface PackageSites {
  readonly pypi: string;
  readonly nuget: string;
  /** Returns the address of an image registry. */
  readonly images: (host: string) => string;
}

const usualSites: PackageSites = {
  pypi: "https://pypi.org",
  nuget: "https://api.nuget.org",
  images: (host) => `https://${host}`,
};
const mostBytes = 8_388_608;
const timeout = 30_000;

/**
 * Looks for the server's name in its package.
 *
 * @throws HostError `not_found` if the package or its version does not exist
 */
export async function provePackage(
  name: string,
  { package: program }: ServerChoice,
  context: RegistryContext,
  sites: PackageSites = usualSites,
): Promise<PackageProof> {
  if (program === undefined) return { kind: "none" };
  const { environment, signal } = context;
  const fetchFrom = (near: string): Fetch =>
    createBoundedFetch({ env: environment.env, near, maxBytes: mostBytes, timeout, signal });
  try {
    switch (program.registryType) {
      case "npm":
        return compare(name, (await viewNpm(program, context)).serverName, "mcpName of its package.json");
      case "pypi":
        return inReadme(name, await pythonReadme(program, sites.pypi, fetchFrom(sites.pypi)));
      case "nuget":
        return inReadme(name, await nugetReadme(program, sites.nuget, fetchFrom(sites.nuget)));
      case "oci":
        return compare(name, await imageLabel(program, sites, fetchFrom), "the image's label");
      default:
        return { kind: "unproven", why: `Fairlead cannot check packages of the kind "${program.registryType}"` };
    }
  } catch (error) {
    if (!(error instanceof HostError) || !mayBeOutage(error)) throw error;
    return { kind: "unproven", why: `it cannot be checked now: ${error.message}` };
  }
}

function mayBeOutage(error: HostError): boolean {
  return error.code === "http_status" || isOutage(error);
}

function compare(name: string, found: string | undefined, by: string): PackageProof {
  if (found === undefined) return { kind: "unproven", why: "the package names no server" };
  return found === name ? { kind: "proven", by } : { kind: "mismatch", found: found.slice(0, 200), by };
}

function inReadme(name: string, readme: string): PackageProof {
  const named = [...readme.matchAll(/mcp-name:\s*([a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]*[a-zA-Z0-9_-])/g)].map(
    ([, each = ""]) => each,
  );
  return compare(name, named.includes(name) ? name : named[0], "mcp-name in its README");
}

function missing({ identifier, version }: RegistryPackage, where: string): HostError {
  return new HostError("not_found", `${where} has no package ${identifier} ${version ?? ""}`.trim(), {
    next: "the registry's entry is wrong: choose another version, NAME@VERSION",
  });
}

// npm: asked through the user's npm, because npx uses the same .npmrc, with its registry and sign-in.

const unreachable =
  /^(?:ENOTFOUND|EAI_AGAIN|ECONN\w+|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENOTCACHED|E5\d\d)$/;

interface NpmView {
  readonly serverName: string | undefined;
  /** The address of the registry that npm uses for the package. */
  readonly registry: string | undefined;
}

async function viewNpm(program: RegistryPackage, { environment, signal }: RegistryContext): Promise<NpmView> {
  const { identifier, version = "" } = program;
  const asked = [
    "view",
    `${identifier}@${version}`,
    "name",
    "version",
    "mcpName",
    "dist.tarball",
    "--json",
    "--fetch-retries=0",
  ];
  const { home, env, platform } = environment;
  const isWindows = platform === "win32";
  // The variables that the server gets: npx must find the same registry.
  const passed = inheritedVariables(environment).map((name): [string, string | undefined] => [name, env[name]]);
  const { stdout, failure } = await new Promise<{ readonly stdout: string; readonly failure: Error | null }>(
    (resolve) => {
      // Not in the workspace: its .npmrc could send the user's variables to another registry. A shell is needed on Windows,
      // where npm is a script; no word has characters that are special to it.
      const options = {
        cwd: home,
        env: Object.fromEntries<string | undefined>(passed),
        signal,
        timeout,
        maxBuffer: mostBytes,
        shell: isWindows,
      };
      execFile("npm", asked, options, (failed, output) => resolve({ stdout: output, failure: failed }));
    },
  );
  if (signal.aborted) throw new HostError("cancelled", "cancelled; nothing was changed");
  const answer = objectOf(parseJson(stdout));
  if (answer["name"] === identifier && answer["version"] === version)
    return { serverName: textIn(answer, "mcpName"), registry: registryOf(textIn(answer, "dist.tarball"), identifier) };
  const code = textIn(member(answer, "error"), "code") ?? "";
  if (code === "E404" || code === "ETARGET" || (failure === null && stdout.trim() === ""))
    throw missing(program, "npm");
  if (member(failure, "code") === "ENOENT")
    throw new HostError("unreachable", "npm is not on your PATH", { next: "install Node.js with npm" });
  const said = textIn(member(answer, "error"), "summary")?.split("\n", 1)[0] ?? "npm gave no answer";
  throw new HostError(unreachable.test(code) ? "unreachable" : "http_status", `npm view ${identifier} failed: ${said}`);
}

/** Tarballs stand below the registry: `https://registry.npmjs.org/NAME/-/NAME-1.2.0.tgz`. */
function registryOf(tarball: string | undefined, identifier: string): string | undefined {
  const at = tarball?.indexOf(`/${identifier}/-/`) ?? -1;
  return at > 0 ? tarball?.slice(0, at) : undefined;
}

const usualNpm = "https://registry.npmjs.org";

/** Where the program fetches its package from. */
export async function packageSource(
  { package: program }: ServerChoice,
  context: RegistryContext,
): Promise<PackageSource> {
  switch (program?.registryType) {
    case "npm": {
      const { registry = usualNpm } = await viewNpm(program, context).catch(
        (): NpmView => ({ serverName: undefined, registry: undefined }),
      );
      const { host, hostname } = new URL(parseUrl(registry) ?? usualNpm);
      // A sandbox leads npm's own connections to the host. npm's HTTP proxy is for the programs that it starts.
      const env = { npm_config_noproxy: hostname, ...(registry !== usualNpm && { npm_config_registry: registry }) };
      return { hosts: [host], env };
    }
    case "pypi":
      return { hosts: ["pypi.org", "files.pythonhosted.org"], env: {} };
    case "nuget":
      return { hosts: ["api.nuget.org"], env: {} };
    case undefined:
    default:
      return { hosts: [], env: {} };
  }
}

// PyPI and NuGet: the README.

async function pythonReadme(program: RegistryPackage, site: string, fetch: Fetch): Promise<string> {
  const { identifier, version = "" } = program;
  const response = await fetch(`${site}/pypi/${encodeURIComponent(identifier)}/${encodeURIComponent(version)}/json`);
  if (response.status === 404) throw missing(program, "PyPI");
  return textIn(member(parseJson(await bodyOf(response, site)), "info"), "description") ?? "";
}

async function nugetReadme(program: RegistryPackage, site: string, fetch: Fetch): Promise<string> {
  const { identifier, version = "" } = program;
  const [id, exact] = [identifier, version].map((part) => encodeURIComponent(part.toLowerCase()));
  const base = `${site}/v3-flatcontainer/${id}`;
  const response = await fetch(`${base}/${exact}/readme`);
  if (response.status !== 404) return bodyOf(response, site);
  const versions = await fetch(`${base}/index.json`);
  const published = versions.ok ? member(parseJson(await versions.text()), "versions") : [];
  if (!listOf(published).includes(version.toLowerCase())) throw missing(program, "NuGet");
  return "";
}

async function bodyOf(response: Response, site: string): Promise<string> {
  if (response.ok) return response.text();
  const code = response.status === 429 || response.status >= 500 ? "unreachable" : "http_status";
  throw new HostError(code, `${site} answered with the status ${response.status}`);
}

// Images: the label in the configuration of one of the image's platforms.

const manifests =
  "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.list.v2+json, application/vnd.docker.distribution.manifest.v2+json";
const serverLabel = "io.modelcontextprotocol.server.name";

async function imageLabel(
  program: RegistryPackage,
  sites: PackageSites,
  fetchFrom: (near: string) => Fetch,
): Promise<string | undefined> {
  const { host, repository, reference } = partsOf(imageOf(program));
  const site = sites.images(host);
  const fetch = fetchFrom(site);
  let token: string | undefined;
  const get = async (path: string): Promise<unknown> => {
    const headers = { accept: manifests, ...(token !== undefined && { authorization: `Bearer ${token}` }) };
    const response = await fetch(`${site}/v2/${repository}/${path}`, { headers });
    if (response.status === 401 && token === undefined) {
      token = await anonymousToken(response, fetch);
      return get(path);
    }
    if (response.status === 404) throw missing(program, host);
    return parseJson(await bodyOf(response, site));
  };
  const index = await get(`manifests/${reference}`);
  const all = member(index, "manifests");
  const real = listOf(all).find((one) => member(member(one, "platform"), "os") === "linux");
  const digest = textIn(real, "digest");
  const manifest = digest === undefined ? index : await get(`manifests/${checkedDigest(digest)}`);
  const config = textIn(member(manifest, "config"), "digest");
  if (config === undefined) return undefined;
  return textIn(member(member(await get(`blobs/${checkedDigest(config)}`), "config"), "Labels"), serverLabel);
}

function checkedDigest(digest: string): string {
  if (/^sha256:[0-9a-f]{64}$/.test(digest)) return digest;
  throw new HostError("http_status", "the image registry sent an invalid digest");
}

function partsOf(image: string): { readonly host: string; readonly repository: string; readonly reference: string } {
  const [, host = "", path = ""] = /^((?:[^/]*[.:][^/]*|localhost))\/(.*)$/.exec(image) ?? [undefined, "", image];
  const [, name = "", tag, digest] = /^([^:@]+)(?::([^@]+))?(?:@(.+))?$/.exec(path) ?? [];
  const isDocker = host === "" || host === "docker.io";
  const repository = isDocker && !name.includes("/") ? `library/${name}` : name;
  return { host: isDocker ? "registry-1.docker.io" : host, repository, reference: digest ?? tag ?? "latest" };
}

/** Image registries give a token for public images to everybody who asks. */
async function anonymousToken(response: Response, fetch: Fetch): Promise<string> {
  const challenge = response.headers.get("www-authenticate") ?? "";
  const part = (key: string): string | undefined => new RegExp(`${key}="([^"]*)"`).exec(challenge)?.[1];
  const realm = part("realm");
  const url = realm === undefined ? undefined : parseUrl(realm);
  if (url === undefined) throw new HostError("http_status", "the image registry requires a sign-in");
  for (const key of ["service", "scope"]) url.searchParams.set(key, part(key) ?? "");
  const body = parseJson(await bodyOf(await fetch(url), url.origin));
  const token = textIn(body, "token") ?? textIn(body, "access_token");
  if (token === undefined) throw new HostError("http_status", "the image registry requires a sign-in");
  return token;
}
