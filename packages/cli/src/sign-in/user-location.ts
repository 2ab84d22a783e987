/** Where the user works: only at a local desktop does a browser that opens here appear in front of the user. */

import { existsSync } from "node:fs";
import type { Io } from "../shell/io.ts";

export type UserLocation = "desk" | "ssh" | "container" | "no_screen";

const containerFiles = ["/.dockerenv", "/run/.containerenv"];

export function userLocation(
  { env, platform }: Pick<Io, "env" | "platform">,
  exists: (file: string) => boolean = existsSync,
): UserLocation {
  const isSet = (...names: readonly string[]): boolean => names.some((name) => Boolean(env[name]));
  if (isSet("SSH_CONNECTION", "SSH_TTY")) return "ssh";
  if (isSet("REMOTE_CONTAINERS", "CODESPACES")) return "container";
  if (platform === "darwin" || platform === "win32") return "desk";
  if (isSet("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME", "WSL_INTEROP")) return "desk";
  return containerFiles.some(exists) ? "container" : "no_screen";
}
