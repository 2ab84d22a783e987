/** The environment variables of a program in its sandbox. */

import { readFile } from "node:fs/promises";
import { isAbsolute } from "node:path";
import type { StdioTarget } from "@fairlead/wire";
import type { SandboxSettings, ServerDefinition } from "../settings/define/definition.ts";
import type { Environment } from "../settings/read/paths.ts";
import { insideLoopbackVariable, insideProxyPort, insideScriptPath, insideTcpVariable } from "./inside-script.ts";
import { insideHome, insideUser, tcpTargets } from "./shared-files.ts";

/**
 * Certificates that the environment names, because the programs of a company's machine cannot do without them. What the
 * entry of a server names must be a file of certificates: the profile would otherwise not say what the server can read.
 */
export async function certificateFiles(
  env: StdioTarget["env"],
  ofUser: Readonly<Record<string, string | undefined>>,
): Promise<readonly string[]> {
  const names = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"];
  const paths = names.flatMap((name) => {
    const path = env[name];
    return path !== undefined && isAbsolute(path) ? [{ path, isOfUser: path === ofUser[name] }] : [];
  });
  const shown = await Promise.all(paths.map(async ({ path, isOfUser }) => isOfUser || (await hasCertificates(path))));
  return paths.filter((_, index) => shown[index]).map(({ path }) => path);
}

async function hasCertificates(path: string): Promise<boolean> {
  const text = await readFile(path, "latin1").catch(() => "");
  return text.includes("-----BEGIN CERTIFICATE-----") && !text.includes("PRIVATE KEY-----");
}

const passed =
  /^(?:PATH|LANG|LANGUAGE|LC_\w+|TZ|TERM|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE)$/;

/** The variables inside: those of the entry and of the profile, and what every program needs. */
export function environmentInside(
  { sandbox, transport }: ServerDefinition & { readonly sandbox: SandboxSettings },
  target: StdioTarget,
  environment: Environment,
  { isNode, needsNetwork }: { readonly isNode: boolean; readonly needsNetwork: boolean },
): readonly (readonly [string, string])[] {
  const own = transport.kind === "stdio" ? new Set(transport.env.keys()) : new Set<string>();
  const inside = new Map<string, string>([
    ["HOME", insideHome],
    ["USER", insideUser],
    ["LOGNAME", insideUser],
    ["SHELL", "/bin/sh"],
    ["TMPDIR", "/tmp"],
  ]);
  for (const [name, value] of Object.entries(target.env)) if (passed.test(name)) inside.set(name, value);
  for (const name of sandbox.env) {
    const value = environment.env[name];
    if (value !== undefined) inside.set(name, value);
  }
  if (needsNetwork) {
    const proxy = `http://127.0.0.1:${insideProxyPort}`;
    for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "all_proxy"])
      inside.set(name, proxy);
    const tcp = tcpTargets(sandbox).map(({ address, target: to }) => [address, Number(/\d+$/.exec(to)?.[0]), to]);
    if (tcp.length > 0) inside.set(insideTcpVariable, JSON.stringify(tcp));
    const loopback = [...sandbox.hosts, ...sandbox.tcp].filter((address) =>
      /^(?:localhost|127\.|\[::1\])/.test(address),
    );
    if (loopback.length > 0)
      inside.set(insideLoopbackVariable, loopback.map((address) => /\d+$/.exec(address)?.[0]).join(" "));
  }
  for (const name of own) {
    const value = target.env[name];
    if (value !== undefined) inside.set(name, value);
  }
  if (isNode || needsNetwork) {
    const given = inside.get("NODE_OPTIONS");
    inside.set("NODE_OPTIONS", [`--require ${insideScriptPath}`, ...(given === undefined ? [] : [given])].join(" "));
  }
  return [...inside];
}
