/** Says why a server that must have a sandbox was not started. It never starts without one. */

import { readFileSync } from "node:fs";
import { HostError } from "../errors.ts";

/** How to get bubblewrap. */
export function installHint(): string {
  return "Install bubblewrap (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap; Arch: pacman -S bubblewrap)";
}

/** Why a server cannot run in its sandbox, and how to change that. */
export interface UnavailableCause {
  readonly why: string;
  /** What to do, as the beginning of a sentence. */
  readonly fix: string;
}

/** The error for a server that must have a sandbox where there is none. It never starts without one. */
export function unavailable(serverName: string, { why, fix }: UnavailableCause): HostError {
  return new HostError("sandbox_unavailable", `"${serverName}" was not started: it must run in a sandbox, and ${why}`, {
    serverName,
    next: `${fix}, or run this server without one: set "sandbox": "off" in fairlead.servers.${serverName}.`,
  });
}

/** The cause behind a message of bubblewrap. */
export function causeOf(message: string): UnavailableCause {
  if (/unknown option/i.test(message))
    return { why: `this bubblewrap is older than 0.8.0 (${message})`, fix: installHint() };
  if (/namespace|uid map|user_namespaces|Operation not permitted|Permission denied|No space left/i.test(message))
    return {
      why: `this system refuses it: ${message}`,
      fix: isRestricted()
        ? "Allow user namespaces for bwrap (Ubuntu: an AppArmor profile for /usr/bin/bwrap, or sysctl kernel.apparmor_restrict_unprivileged_userns=0)"
        : "Allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces; in a container: its security options)",
    };
  return { why: `bubblewrap failed: ${message}`, fix: "Run it on a system with sandboxes" };
}

function isRestricted(): boolean {
  try {
    return readFileSync("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "utf8").trim() === "1";
  } catch {
    // Only Ubuntu has this file.
    return false;
  }
}
