/** Opens an address in the person's browser: a web address and nothing else, in one fixed form, as one argument, never through a shell. */

import type { SpawnOptions } from "node:child_process";
import { posix } from "node:path";
import { parseUrl } from "@fairlead/wire/text";
import { type Clock, systemClock } from "../clock.ts";
import type { Environment } from "../settings/read/paths.ts";
import { isLoopbackHost } from "./loopback-host.ts";

const longestUrl = 16_384;
/** What cannot open anything says so at once; a browser may stay for as long as its window. */
const patience = 3_000;

/**
 * The address, if it may be opened: https, or http on this machine; no account, nothing invisible. Its `href` is what to
 * show and what to open: all that means something to a shell is written as a number, which a browser takes for the same.
 */
export function webUrl(text: string): URL | undefined {
  // The standard would drop some of these without a word.
  if (text.length > longestUrl || /[\p{C}\p{Z}]/u.test(text)) return undefined;
  const url = parseUrl(text);
  if (url === undefined) return undefined;
  const { protocol, username, password, hostname, host, pathname, search, hash } = url;
  if (protocol !== "https:" && !(protocol === "http:" && isLoopbackHost(hostname))) return undefined;
  if (username !== "" || password !== "") return undefined;
  // By the standard, a host name may be made of nearly anything.
  if (!/^(?:[a-z0-9][a-z0-9._-]*|\[[0-9a-f:]+\])$/.test(hostname)) return undefined;
  return new URL(`${protocol}//${host}${harmless(pathname)}${harmless(search)}${harmless(hash)}`);
}

/** Of an address that was taken apart: nothing but ASCII is left in it. */
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

export interface OpenUrlOptions extends Pick<Environment, "platform" | "env"> {
  readonly spawn?: (command: string, args: readonly string[], options: SpawnOptions) => Started;
  readonly clock?: Clock;
}

/** `url`: the `href` of a `webUrl`, as it was shown; anything else is not opened. False: nothing could be opened. */
export async function openUrl(url: string, options: OpenUrlOptions): Promise<boolean> {
  if (webUrl(url)?.href !== url) return false;
  for (const [command, ...args] of openersOn(options)) if (await starts(command, [...args, url], options)) return true;
  return false;
}

type CommandLine = readonly [command: string, ...args: string[]];

function openersOn({ platform, env }: OpenUrlOptions): readonly CommandLine[] {
  if (platform === "darwin") return [["/usr/bin/open"]];
  if (platform === "win32") return [[`${windowsFolder(env)}\\System32\\rundll32.exe`, "url.dll,FileProtocolHandler"]];
  const isInWindows = Boolean(env["WSL_DISTRO_NAME"] || env["WSL_INTEROP"]);
  // Without a screen, it would show the page in a terminal that nobody sees.
  const hasScreen = Boolean(env["DISPLAY"] || env["WAYLAND_DISPLAY"] || env["BROWSER"]);
  return [...(isInWindows ? [["wslview"] as const] : []), ...(hasScreen ? [["xdg-open"] as const] : [])];
}

/** Windows does not tell `SystemRoot` from `SYSTEMROOT`. */
function windowsFolder(env: Environment["env"]): string {
  const [, folder = ""] = Object.entries(env).find(([name]) => name.toUpperCase() === "SYSTEMROOT") ?? [];
  return /^[A-Z]:\\/i.test(folder) ? folder : "C:\\Windows";
}

/** Whether it came up: it ended well, or is still there after a while. */
async function starts(command: string, args: readonly string[], options: OpenUrlOptions): Promise<boolean> {
  const { platform, clock = systemClock } = options;
  const spawn = options.spawn ?? (await import("node:child_process")).spawn;
  return new Promise((resolve) => {
    const callOff = clock.after(patience, () => resolve(true));
    const settle = (isOpen: boolean): void => {
      callOff();
      resolve(isOpen);
    };
    try {
      const cwd = platform === "win32" ? windowsFolder(options.env) : "/";
      const env = withoutRelativePlaces(options);
      const child = spawn(command, args, {
        cwd,
        env,
        detached: true,
        shell: false,
        stdio: "ignore",
        windowsHide: true,
      });
      child.once("error", () => settle(false));
      child.once("exit", (code) => settle(code === 0));
      child.unref();
    } catch {
      // Some failures to start are thrown, others are told: both mean the same here.
      settle(false);
    }
  });
}

/** The folder we are in may be anybody's: no program is taken from it. */
function withoutRelativePlaces({ platform, env }: OpenUrlOptions): Record<string, string | undefined> {
  const { PATH: path } = env;
  if (platform === "win32" || path === undefined) return { ...env };
  return {
    ...env,
    PATH: path
      .split(":")
      .filter((entry) => posix.isAbsolute(entry))
      .join(":"),
  };
}
