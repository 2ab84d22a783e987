/**
 * One MCP registry: at an address (API v0.1), or as a file or folder on this machine. Answers of an address are kept on
 * disk and used, with their age, while the registry cannot be reached.
 */

import { createHash } from "node:crypto";
import { readdir, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { createBoundedFetch, isLoopbackHost } from "@fairlead/core/connect";
import { type ErrorCode, HostError } from "@fairlead/core/errors";
import { ensurePrivateFolder, privateFileMode, readText, replaceFile } from "@fairlead/core/files";
import type { Environment } from "@fairlead/core/settings";
import { listOf, member, parseJson, stringOf, textIn } from "@fairlead/wire/json";
import { parseUrl } from "@fairlead/wire/text";
import { isRefused, type RefusedServer, type RegistryServer, readServerJson } from "./server-json.ts";
import { newestOf } from "./versions.ts";

/** The registry that is used if the settings name none. */
export const officialRegistry = "https://registry.modelcontextprotocol.io";

/** What reading a registry needs of the program. */
export interface RegistryContext {
  readonly environment: Environment;
  /** Fairlead's state folder, which has the kept answers. */
  readonly state: string;
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. Default: the system's clock. */
  readonly now?: () => number;
}

/** Some of a registry's servers. */
export interface RegistryPage {
  readonly servers: readonly RegistryServer[];
  /** Servers whose description Fairlead does not read. */
  readonly refused: readonly RefusedServer[];
  readonly nextCursor?: string | undefined;
  /** Set if the registry could not be reached and the answer comes from disk. */
  readonly kept?: CachedReply | undefined;
}

/** Why an answer comes from disk. */
export interface CachedReply {
  /** Milliseconds since the registry answered. */
  readonly age: number;
  /** Why the registry was not read now. */
  readonly why: HostError;
}

interface PageWanted {
  readonly search?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** A registry of MCP servers. */
export interface McpRegistry {
  /** Its address without a slash at the end, or its path. */
  readonly address: string;
  /** Lists the newest versions of servers. `search`: a text that the name or description contains. */
  list(page: PageWanted): Promise<RegistryPage>;
  /** All versions of one server. @throws HostError `not_found` */
  versions(name: string): Promise<RegistryPage>;
  /** Everything that is on disk, for use without the network. */
  cachedServers(): Promise<RegistryPage & { readonly savedAt: number | undefined }>;
}

/** Limits of what is read from one registry. */
export const registryLimits: { readonly page: number; readonly pageBytes: number; readonly fileBytes: number } = {
  /** Servers of one page: the largest that the API allows. */
  page: 100,
  pageBytes: 8_388_608,
  /** The largest file that is a registry. */
  fileBytes: 67_108_864,
};
const mostFiles = 10_000;
const mostCachedReplies = 400;
const timeout = 20_000;

/**
 * Opens a registry by an address or a path. Reads nothing yet.
 *
 * @throws HostError `usage` if the address is neither https nor loopback
 */
export function openRegistry(address: string, context: RegistryContext): McpRegistry {
  const isAddress = /^[a-z][a-z0-9+.-]*:\/\//i.test(address);
  return isAddress ? remoteRegistry(checkedAddress(address), context) : localRegistry(pathOf(address, context));
}

function pathOf(address: string, { environment: { home, cwd } }: RegistryContext): string {
  return address === "~" || address.startsWith("~/") ? join(home, address.slice(1)) : resolve(cwd, address);
}

function checkedAddress(address: string): URL {
  const url = parseUrl(address);
  const refuse = (why: string): HostError =>
    new HostError("usage", `the registry ${address} is not used: ${why}`, {
      next: "name a registry by its https:// address, or by a file or folder",
    });
  if (url === undefined) throw refuse("its address is invalid");
  if (url.username !== "" || url.password !== "") throw refuse("its address contains a user name or password");
  if (url.search !== "" || url.hash !== "") throw refuse("its address has more than a path");
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopbackHost(url.hostname)))
    throw refuse("its address must begin with https://");
  url.pathname = url.pathname.replace(/\/(?:v0(?:\.1)?\/?)?$/, "");
  return url;
}

// A registry on this machine: a list as the API gives it, a list without a frame, or one server.json.

function localRegistry(path: string): McpRegistry {
  let read: Promise<RegistryPage> | undefined;
  const all = (): Promise<RegistryPage> => {
    read ??= readLocal(path);
    return read;
  };
  return {
    address: path,
    async list({ search = "", cursor = "0", limit }) {
      const { servers, refused } = await all();
      const from = /^\d{1,9}$/.test(cursor) ? Number(cursor) : 0;
      const found = newestByName(servers).filter((server) => contains(server, search));
      const nextCursor = from + limit < found.length ? String(from + limit) : undefined;
      return { servers: found.slice(from, from + limit), refused: from === 0 ? refused : [], nextCursor };
    },
    async versions(name) {
      const { servers, refused } = await all();
      return versionsOf(name, path, { servers, refused });
    },
    cachedServers: async () => ({ servers: [], refused: [], savedAt: undefined }),
  };
}

async function readLocal(path: string): Promise<RegistryPage> {
  const isFolder = (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
  const names = isFolder ? (await readdir(path)).filter((name) => name.endsWith(".json")).sort() : [];
  if (names.length > mostFiles)
    throw new HostError("too_large", `the registry ${path} has more than ${mostFiles} files`);
  const files = isFolder ? names.map((name) => join(path, name)) : [path];
  const pages: RegistryPage[] = [];
  let left = registryLimits.fileBytes;
  for (const file of files) {
    const read = await readText(file, left);
    if (read.kind !== "text")
      throw new HostError(
        "unreachable",
        `the registry ${file} cannot be read: ${read.kind === "absent" ? "there is no such file" : read.reason}`,
        { next: "correct --registry, or fairlead.registries in your settings" },
      );
    left -= read.text.length;
    const value = parseJson(read.text);
    if (value === undefined) throw new HostError("protocol", `the registry ${file} is not valid JSON`);
    pages.push(pageOf(Array.isArray(value) || Array.isArray(member(value, "servers")) ? value : [value]));
  }
  return { servers: pages.flatMap(({ servers }) => servers), refused: pages.flatMap(({ refused }) => refused) };
}

// A registry at an address.

interface Kept {
  readonly path: string;
  readonly etag: string | undefined;
  readonly savedAt: number;
  readonly body: unknown;
}

function remoteRegistry(base: URL, context: RegistryContext): McpRegistry {
  const { environment, state, signal, now = Date.now } = context;
  const address = base.href.replace(/\/$/, "");
  const folder = join(state, "registries", digest(address).slice(0, 16));
  const fetch = createBoundedFetch({
    env: environment.env,
    near: address,
    maxBytes: registryLimits.pageBytes,
    timeout,
    signal,
  });

  async function get(path: string): Promise<{ readonly body: unknown; readonly kept?: CachedReply }> {
    const before = await readKept(folder, path);
    const headers = {
      accept: "application/json",
      ...(before?.etag === undefined ? {} : { "if-none-match": before.etag }),
    };
    try {
      const response = await fetch(`${address}${path}`, { headers });
      if (response.status === 304 && before !== undefined) {
        await keep(folder, { ...before, savedAt: now() });
        return { body: before.body };
      }
      if (!response.ok) throw refusedBy(address, response.status, await response.text());
      const body = parseJson(await response.text());
      if (body === undefined) throw new HostError("protocol", `the registry ${address} sent no JSON`);
      await keep(folder, { path, etag: response.headers.get("etag") ?? undefined, savedAt: now(), body });
      return { body };
    } catch (error) {
      if (before === undefined || !isOutage(error)) throw error;
      return { body: before.body, kept: { age: Math.max(0, now() - before.savedAt), why: error } };
    }
  }

  return {
    address,
    async list({ search, cursor, limit }) {
      const query = new URLSearchParams({ limit: String(limit), version: "latest" });
      if (search !== undefined && search !== "") query.set("search", search);
      if (cursor !== undefined) query.set("cursor", cursor);
      const { body, kept } = await get(`/v0.1/servers?${query.toString()}`);
      if (!Array.isArray(member(body, "servers")))
        throw new HostError("protocol", `the registry ${address} sent no list of servers`);
      const metadata = member(body, "metadata");
      const nextCursor = textIn(metadata, "nextCursor") ?? textIn(metadata, "next_cursor");
      if (nextCursor !== undefined && nextCursor.length > 4_096)
        throw new HostError("protocol", `the registry ${address} sent a cursor of ${nextCursor.length} characters`);
      return { ...pageOf(body), nextCursor, kept };
    },
    async versions(name) {
      const { body, kept } = await get(`/v0.1/servers/${encodeURIComponent(name)}/versions`).catch((error: unknown) => {
        throw error instanceof HostError && error.code === "not_found" ? unknownServer(name, address) : error;
      });
      return versionsOf(name, address, { ...pageOf(body), kept });
    },
    async cachedServers() {
      const files = await readdir(folder).catch(() => []);
      const pages: RegistryPage[] = [];
      const times: number[] = [];
      for (const file of files.slice(0, mostCachedReplies)) {
        const answer = await readKeptFile(join(folder, file));
        if (answer === undefined) continue;
        pages.push(pageOf(answer.body));
        times.push(answer.savedAt);
      }
      const servers = newestByName(pages.flatMap((page) => page.servers));
      return { servers, refused: [], savedAt: times.length === 0 ? undefined : Math.min(...times) };
    },
  };
}

const outages: readonly ErrorCode[] = ["unreachable", "connect_timeout", "proxy", "tls"];

/** Whether the registry may answer later, so that an older answer is better than none. */
export function isOutage(error: unknown): error is HostError {
  return error instanceof HostError && outages.includes(error.code);
}

function refusedBy(address: string, status: number, body: string): HostError {
  const said = stringOf(member(parseJson(body), "error"))?.slice(0, 200);
  const why = said === undefined ? "" : `: ${said}`;
  if (status === 404) return new HostError("not_found", `the registry ${address} has no such server${why}`);
  if (status === 429 || status >= 500)
    return new HostError("unreachable", `the registry ${address} answered with the status ${status}${why}`);
  return new HostError("http_status", `the registry ${address} answered with the status ${status}${why}`);
}

// Kept answers: one file for each request.

async function keep(folder: string, answer: Kept): Promise<void> {
  await ensurePrivateFolder(folder);
  await replaceFile(fileOf(folder, answer.path), {
    text: JSON.stringify(answer),
    mode: privateFileMode,
    previous: undefined,
    isCurrent: async () => true,
    canBeLost: true,
  });
  const files = await readdir(folder);
  if (files.length <= mostCachedReplies) return;
  const dated = await Promise.all(
    files.map(async (name) => ({ name, at: (await stat(join(folder, name)).catch(() => undefined))?.mtimeMs ?? 0 })),
  );
  const oldest = dated.sort((a, b) => a.at - b.at).slice(0, files.length - mostCachedReplies);
  await Promise.all(oldest.map(({ name }) => rm(join(folder, name), { force: true })));
}

async function readKept(folder: string, path: string): Promise<Kept | undefined> {
  const answer = await readKeptFile(fileOf(folder, path));
  return answer?.path === path ? answer : undefined;
}

async function readKeptFile(file: string): Promise<Kept | undefined> {
  const read = await readText(file, registryLimits.pageBytes * 2);
  const value = read.kind === "text" ? parseJson(read.text) : undefined;
  const [path, savedAt] = [textIn(value, "path"), member(value, "savedAt")];
  if (path === undefined || typeof savedAt !== "number") return undefined;
  return { path, savedAt, etag: textIn(value, "etag"), body: member(value, "body") };
}

function fileOf(folder: string, path: string): string {
  return join(folder, `${digest(path).slice(0, 32)}.json`);
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

// Lists of servers.

function pageOf(body: unknown): RegistryPage {
  const all = listOf(Array.isArray(body) ? body : (member(body, "servers") ?? [])).map(readServerJson);
  return {
    servers: all.filter((server): server is RegistryServer => !isRefused(server)),
    refused: all.filter(isRefused),
  };
}

function versionsOf(name: string, address: string, { servers, refused, kept }: RegistryPage): RegistryPage {
  const own = servers.filter((server) => server.name === name);
  const why = refused.find((server) => server.name === name)?.why;
  if (own.length === 0 && why !== undefined)
    throw new HostError("protocol", `${name} of the registry ${address} is refused: ${why}`);
  if (own.length === 0) throw unknownServer(name, address);
  return { servers: own, refused, kept };
}

function unknownServer(name: string, address: string): HostError {
  return new HostError("not_found", `the registry ${address} has no server "${name}"`, {
    next: `fairlead mcp search ${name.slice(name.indexOf("/") + 1)}`,
  });
}

/** The newest version of each server, in the order of the list. */
function newestByName(servers: readonly RegistryServer[]): readonly RegistryServer[] {
  const versions = new Map<string, RegistryServer[]>();
  for (const server of servers) {
    const others = versions.get(server.name);
    if (others === undefined) versions.set(server.name, [server]);
    else others.push(server);
  }
  return [...versions.values()].flatMap((all) => newestOf(all) ?? []);
}

/** Whether name, title or description contain the text, whatever its case. */
export function contains({ name, title = "", description }: RegistryServer, text: string): boolean {
  return `${name}\n${title}\n${description}`.toLowerCase().includes(text.toLowerCase());
}
