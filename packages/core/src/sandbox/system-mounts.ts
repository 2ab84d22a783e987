/** The part of the system that every sandbox shows. */

import { lstatSync, readlinkSync } from "node:fs";
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
