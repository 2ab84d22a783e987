/** Opens a web URL in the user's browser: in a normalised form, as one argument, without a shell. */

import type { SpawnOptions } from "node:child_process";
import { pathToFileURL } from "node:url";
import { parseUrl } from "@fairlead/wire/text";
import { type Clock, systemClock } from "../clock.ts";
import { findOwnProgram, type OwnProgram, type ProgramPlace } from "../trust/programs.ts";
import { isLoopbackHost } from "./server-network.ts";

const longestUrl = 16_384;
/**
 * A program that opens URLs counts as successful if it still runs after this many milliseconds. A failing one exits at
 * once.
 */
const startTimeout = 3_000;

/**
 * Returns the URL if Fairlead may open it; otherwise undefined. It must be https, or http on this machine. It must not
 * contain a user name or invisible characters. Show and open only its `href`, in which quotes, `$`, `;` and similar
 * characters are percent-encoded. Do not pass it to a shell, because it may contain `&`.
 */
export function webUrl(text: string): URL | undefined {
  // Checks the characters before parsing, because `new URL` silently drops some invisible characters.
  if (text.length > longestUrl || /[\p{C}\p{Z}]/u.test(text)) return undefined;
  const url = parseUrl(text);
  if (url === undefined) return undefined;
  const { protocol, username, password, hostname, host, pathname, search, hash } = url;
  if (protocol !== "https:" && !(protocol === "http:" && isLoopbackHost(hostname))) return undefined;
  if (username !== "" || password !== "") return undefined;
  // Checks the host name, because the URL standard allows almost any character in it.
  if (!/^(?:[a-z0-9][a-z0-9._-]*|\[[0-9a-f:]+\])$/.test(hostname)) return undefined;
  return new URL(`${protocol}//${host}${harmless(pathname)}${harmless(search)}${harmless(hash)}`);
}

/**
 * Percent-encodes characters that a shell could interpret, except those with a meaning in URLs, such as `&`. `part`
 * belongs to a parsed URL, so it is ASCII.
 */
function harmless(part: string): string {
  return part.replaceAll(
    /%(?![0-9a-f]{2})|[^a-z0-9%._~:/?#@+,=&-]/gi,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0").toUpperCase()}`,
  );
}

interface Started {
  once(event: "error", listener: (error: Error) => void): unknown;
  once(event: "exit", listener: (code: number | null) => void): unknown;
  unref(): void;
}

/** Where to search for the program that opens URLs, and how to start it. */
export interface OpenUrlOptions extends ProgramPlace {
  readonly spawn?: (command: string, args: readonly string[], options: SpawnOptions) => Started;
  readonly clock?: Clock;
}

/** Opens the `href` of a URL that `webUrl` returned. Returns false for any other text, and if no browser starts. */
export async function openUrl(url: string, options: OpenUrlOptions): Promise<boolean> {
  return webUrl(url)?.href === url && openAddress(url, options);
}

/**
 * Opens a URL with a secret: other users of this machine can see the command line of the browser, so it gets the address of a file
 * that only this user can read, and the file leads the browser to the URL. The caller removes the file later.
 *
 * @param file A path in a private folder, without a file.
 */
export async function openUrlThrough(file: string, url: string, options: OpenUrlOptions): Promise<boolean> {
  if (webUrl(url)?.href !== url) return false;
  const { writeFile } = await import("node:fs/promises");
  await writeFile(file, redirectTo(url), { mode: 0o600, flag: "wx" });
  return openAddress(pathToFileURL(file).href, options);
}

/** `url` is the `href` of `webUrl`, so it contains no quotes; only `&` has a meaning in HTML. */
function redirectTo(url: string): string {
  const text = url.replaceAll("&", "&amp;");
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url=${text}"><title>Fairlead</title></head>
<body><p><a href="${text}">Open Fairlead</a></p></body>
</html>
`;
}

async function openAddress(url: string, options: OpenUrlOptions): Promise<boolean> {
  for (const [command, ...args] of openersOn(options.environment)) {
    const program = await locate(command, options);
    if (program !== undefined && (await starts(program, [...args, url], options))) return true;
  }
  return false;
}

type CommandLine = readonly [command: string, ...args: string[]];

/**
 * Finds the program that opens URLs. On macOS and Windows, the program has an absolute path. On other systems, Fairlead
 * searches for it in `PATH`.
 */
async function locate(command: string, options: OpenUrlOptions): Promise<OwnProgram | undefined> {
  const { platform, env } = options.environment;
  const isFixed = platform === "darwin" || platform === "win32";
  return isFixed ? { file: command, env } : findOwnProgram(command, options);
}

function openersOn({ platform, env }: ProgramPlace["environment"]): readonly CommandLine[] {
  if (platform === "darwin") return [["/usr/bin/open"]];
  if (platform === "win32") return [[`${windowsFolder(env)}\\System32\\rundll32.exe`, "url.dll,FileProtocolHandler"]];
  const isInWindows = Boolean(env["WSL_DISTRO_NAME"] || env["WSL_INTEROP"]);
  // Without a display, xdg-open would open a text browser in an invisible terminal.
  const hasScreen = Boolean(env["DISPLAY"] || env["WAYLAND_DISPLAY"] || env["BROWSER"]);
  const openers: CommandLine[] = [];
  if (isInWindows) openers.push(["wslview"]);
  if (hasScreen) openers.push(["xdg-open"]);
  return openers;
}

/** The Windows folder. Ignores the case of variable names, as Windows does. */
function windowsFolder(env: OwnProgram["env"]): string {
  const [, folder = ""] = Object.entries(env).find(([name]) => name.toUpperCase() === "SYSTEMROOT") ?? [];
  return /^[A-Z]:\\/i.test(folder) ? folder : "C:\\Windows";
}

/** Whether the program exits with 0, or is still running after the timeout. */
async function starts({ file, env }: OwnProgram, args: readonly string[], options: OpenUrlOptions): Promise<boolean> {
  const { clock = systemClock } = options;
  const spawn = options.spawn ?? (await import("node:child_process")).spawn;
  return new Promise((resolve) => {
    const callOff = clock.after(startTimeout, () => resolve(true));
    const settle = (isOpen: boolean): void => {
      callOff();
      resolve(isOpen);
    };
    try {
      const child = spawn(file, args, {
        cwd: options.environment.platform === "win32" ? windowsFolder(env) : "/",
        env: { ...env },
        detached: true,
        shell: false,
        stdio: "ignore",
        windowsHide: true,
      });
      child.once("error", () => settle(false));
      child.once("exit", (code) => settle(code === 0));
      child.unref();
    } catch {
      // `spawn` throws some errors and emits others as events.
      settle(false);
    }
  });
}
