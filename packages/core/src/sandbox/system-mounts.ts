/** The part of the system that every sandbox shows. */

import { lstatSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { systemFolders } from "./program-files.ts";

/** The system's folders as they are: links as links, folders read-only. */
export function systemMounts(): readonly string[] {
  const folders = systemFolders.flatMap((path) => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isSymbolicLink()) return ["--symlink", readlinkSync(path), path];
    return found?.isDirectory() ? ["--ro-bind", path, path] : [];
  });
  return [...folders, ...systemFiles.flatMap((path) => ["--ro-bind-try", path, path])];
}

const systemFiles =
  "ssl ca-certificates ca-certificates.conf pki crypto-policies localtime timezone alternatives ld.so.cache ld.so.conf ld.so.conf.d mime.types protocols services os-release fonts magic"
    .split(" ")
    .map((name) => `/etc/${name}`);

const temporaryBytes = 512 * 1024 * 1024;

/** `/proc`, `/dev` and `/tmp` of the sandbox. */
export function kernelMounts(): readonly string[] {
  return [
    ..."--proc /proc --dev /dev".split(" "),
    // bubblewrap leaves the kernel's settings writable if it forbids user namespaces. Root would change them for the machine.
    ..."--ro-bind /proc/sys /proc/sys".split(" "),
    ...closedInProc().flatMap((path) => ["--ro-bind", "/dev/null", path]),
    ...`--size ${temporaryBytes} --tmpfs /dev/shm --remount-ro /dev --size ${temporaryBytes} --tmpfs /tmp`.split(" "),
  ];
}

/** Files of `/proc` that are about the whole machine: its keys, and what only root may read, if root runs the sandbox. */
function closedInProc(): readonly string[] {
  const isRoot = process.getuid?.() === 0;
  const files = isRoot ? readdirSync("/proc").filter((name) => !/^\d+$/.test(name)) : ["keys", "key-users"];
  return files
    .map((name) => join("/proc", name))
    .filter((path) => {
      const found = lstatSync(path, { throwIfNoEntry: false });
      if (found?.isFile() !== true) return false;
      return /\/key(?:s|-users)$/.test(path) || (found.mode & 0o004) === 0 || (found.mode & 0o200) !== 0;
    });
}
