/** `mcp add FILE.mcpb`: reads a bundle, shows what it is and what would run, asks for its values, unpacks and adds it. */

import { readFile, stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { createBoundedFetch, whyNoSandbox } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import { explain } from "@fairlead/core/files";
import { sizeWords, toShellWord } from "@fairlead/core/plain-text";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { type Configuration, programPlace } from "@fairlead/core/trust";
import { type Bundle, folderOfBundle, readBundle, unpackBundle } from "@fairlead/registry/bundles/bundle";
import { type BundleAnswers, type BundleEntry, bundleEntry, whyNotHere } from "@fairlead/registry/bundles/bundle-entry";
import { BundleRefusal, bundleLimits } from "@fairlead/registry/bundles/zip";
import { parseUrl } from "@fairlead/wire/text";
import { configurationOf } from "../../../shell/configuration.ts";
import { canAsk, confirm } from "../../../shell/prompt.ts";
import type { Context } from "../../../shell/verb.ts";
import { isSingleExecutable } from "../../../shell/version.ts";
import { storeInputSecrets } from "../registry/input-secrets.ts";
import { type AddChoices, addServers } from "./add-servers.ts";
import { askForInputs } from "./bundle-inputs.ts";
import { newServerName } from "./destination.ts";

/** The options of `mcp add` that concern a bundle. */
export interface BundleOptions extends AddChoices {
  /** The name of the server. Default: that of the bundle. */
  readonly name?: string | undefined;
  /** `NAME=VALUE` words. */
  readonly input?: readonly string[] | undefined;
  readonly sha256?: string | undefined;
  readonly yes?: boolean | undefined;
}

/** What a registry says of a bundle. */
export interface PublishedBundle {
  /** An https address. */
  readonly url: string;
  readonly sha256: string;
  /** `fairlead.servers.NAME.origin`. */
  readonly origin: Readonly<Record<string, unknown>>;
}

/** How long a download may take, in milliseconds. */
const downloadTimeout = 10 * 60 * 1000;

/**
 * Adds the server of a bundle. `source`: the path of a file, an https address, or what a registry publishes.
 *
 * @throws HostError if nothing was added
 */
export async function addBundle(
  source: string | PublishedBundle,
  options: BundleOptions,
  context: Context,
): Promise<void> {
  const { io, out, globals } = context;
  const configuration = await configurationOf(context);
  const from = typeof source === "string" ? source : source.url;
  const bundle = await refusing(from, async () =>
    typeof source === "string"
      ? readBundle(await bytesOf(source, options.sha256, context), options.sha256)
      : readBundle(await download(source.url, context), source.sha256),
  );
  const elsewhere = whyNotHere(bundle.manifest, io.platform);
  if (elsewhere !== undefined) throw refused(from, elsewhere);
  const name = newServerName(options.name ?? ownName(bundle), options, configuration);
  await checkSandbox(name, options, configuration, context);
  if (!globals.json) describe(bundle, from, context);
  const answers = await askForInputs(bundle.manifest.inputs, options.input ?? [], context);
  const planned = await refusing(from, async () => plan(bundle, name, answers, configuration, context));
  if (!globals.json) showPlan(planned, context);
  if (options.yes !== true) {
    if (!canAsk(io) || globals.json)
      throw new HostError("usage", `"${name}" needs a yes before it is added, and there is no terminal to ask on`, {
        next: "look at what the bundle would run, and add --yes",
      });
    if (!(await confirm(io, safe`Add "${toVisibleLine(name)}"?`))) throw new HostError("denied", "nothing was changed");
  }
  const folder = await refusing(from, async () => unpackBundle(bundle, configuration.locations.state));
  await storeInputSecrets(planned.secrets, configuration, context);
  const { manifest, sha256 } = bundle;
  const origin =
    typeof source === "string"
      ? { kind: "mcpb", name: manifest.name, version: manifest.version, package: from, sha256 }
      : { ...source.origin, sha256 };
  const server = {
    name,
    entry: planned.entry,
    sandbox: { read: [...planned.read] },
    folder,
    serverOptions: { origin },
  };
  out.say(safe`unpacked into ${toVisibleLine(folder)}`);
  // The entry names a folder of this user, so it is of no use in the settings of a project.
  await addServers([server], { ...options, scope: options.scope ?? "user" }, context);
}

async function bytesOf(source: string, sha256: string | undefined, context: Context): Promise<Buffer> {
  if (/^https?:/i.test(source)) {
    if (sha256 === undefined)
      throw new HostError("usage", `${source} needs --sha256: without it, nothing proves which file was downloaded`, {
        next: "add --sha256 DIGEST, as the publisher of the bundle names it",
      });
    return download(source, context);
  }
  const path = resolve(context.io.cwd, source);
  try {
    const found = await stat(path);
    if (found.size > bundleLimits.fileBytes) throw new BundleRefusal("it is larger than 256 MB");
    return await readFile(path);
  } catch (error) {
    if (error instanceof BundleRefusal) throw error;
    throw new HostError("usage", `${path} cannot be read: ${explain(error)}`, { cause: error });
  }
}

async function download(address: string, { io }: Context): Promise<Buffer> {
  const url = parseUrl(address);
  const isLoopback = url !== undefined && /^(?:127\.0\.0\.1|localhost|\[::1\])$/.test(url.hostname);
  if (url === undefined || (url.protocol !== "https:" && !isLoopback))
    throw new HostError("usage", `${address} cannot be used: a bundle is downloaded only over https`);
  const fetch = createBoundedFetch({
    env: io.env,
    near: url.href,
    maxBytes: bundleLimits.fileBytes,
    timeout: downloadTimeout,
    signal: io.signal,
  });
  const response = await fetch(url);
  if (!response.ok) throw new HostError("http_status", `${url.origin} answered with status ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}

/** Turns the refusal of a bundle into an error that names the bundle. */
async function refusing<T>(from: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BundleRefusal) throw refused(from, error.message);
    throw error;
  }
}

function refused(from: string, why: string): HostError {
  return new HostError("usage", `the bundle ${basename(from)} was refused: ${why}; nothing was changed`, {
    next: "tell the publisher of the bundle, or get it from another place",
  });
}

function ownName({ manifest }: Bundle): string {
  return manifest.name.replaceAll(/[^\w-]+/g, "-").replaceAll(/^-+|-+$/g, "");
}

/** In a script there is no person to ask a second time, so a missing sandbox is an error. */
async function checkSandbox(
  name: string,
  { sandbox }: BundleOptions,
  configuration: Configuration,
  { io, globals }: Context,
): Promise<void> {
  if (sandbox !== undefined || (canAsk(io) && !globals.json)) return;
  const missing = await whyNoSandbox(programPlace(configuration));
  if (missing === undefined) return;
  throw new HostError("sandbox_unavailable", `"${name}" cannot run in a sandbox: ${missing.why}`, {
    next: `${missing.fix}, or add --sandbox off: it then runs with all your rights`,
  });
}

function describe({ manifest, signature, sha256, files, size }: Bundle, from: string, { out }: Context): void {
  const { name, version, title, author, description, kind, toolNames } = manifest;
  out.show(
    safe`${out.style.bold(toVisibleLine(title ?? name))} ${toVisibleLine(version)}, by ${toVisibleLine(author)} (as the bundle says)`,
  );
  out.show(safe`  ${toVisibleLine(description.slice(0, 300))}`);
  out.show(
    safe`  file        ${toVisibleLine(from)}, ${toSafeLine(sizeWords(size))} in ${files.length} files (${toSafeLine(kind)})`,
  );
  out.show(safe`  SHA-256     ${toSafeLine(sha256)}`);
  out.show(safe`  signature   ${signatureWords(signature)}`);
  if (toolNames.length > 0)
    out.show(
      safe`  tools       ${toVisibleLine(toolNames.slice(0, 12).join(", "))}${toolNames.length > 12 ? safe` and ${toolNames.length - 12} more` : safe``}`,
    );
}

function signatureWords(signature: Bundle["signature"]): SafeText {
  if (signature.kind === "unsigned") return safe`unsigned`;
  const { subject, issuer, isSelfSigned, isInForce, fingerprint } = signature;
  return joinSafe(
    [
      safe`signed with the certificate of "${toVisibleLine(subject)}" (${toSafeLine(fingerprint.slice(0, 16))}…)`,
      isSelfSigned ? safe`which its owner has issued` : safe`issued by "${toVisibleLine(issuer)}"`,
      ...(isInForce ? [] : [safe`which is not valid today`]),
      safe`not verified: who that is, and whether the certificate was revoked`,
    ],
    safe`; `,
  );
}

function plan(
  bundle: Bundle,
  name: string,
  answers: BundleAnswers,
  configuration: Configuration,
  { io }: Context,
): BundleEntry {
  const paths = new Set(bundle.files.map(({ path }) => path));
  const safeName = name.replaceAll(/[^\w.-]/g, "_");
  return bundleEntry(bundle.manifest, answers, {
    folder: folderOfBundle(bundle, configuration.locations.state),
    home: configuration.environment.home,
    platform: io.platform,
    node: isSingleExecutable() ? undefined : { file: process.execPath, version: process.versions.node },
    hasFile: (path) => paths.has(path),
    secretName: (key) => `${safeName}.${key}`.slice(0, 128),
  });
}

function showPlan({ entry, notes, secrets }: BundleEntry, { out }: Context): void {
  const { command, args, env = {}, cwd } = entry;
  out.show(safe`  runs        ${toVisibleLine([command, ...args].map(toShellWord).join(" "))}`);
  if (cwd !== undefined) out.show(safe`  in          ${toVisibleLine(cwd)}`);
  const variables = Object.entries(env).map(([variable, value]) => `${variable}=${toShellWord(value)}`);
  if (variables.length > 0) out.show(safe`  with        ${toVisibleLine(variables.join(" "))}`);
  if (secrets.length > 0)
    out.show(
      safe`  secrets     ${toVisibleLine(secrets.map((secret) => secret.name).join(", "))}, into the secret store`,
    );
  for (const note of notes) out.warn(safe`note: ${toVisibleLine(note)}`);
}
