/** A file system of its own that a test can fill, limit or make read-only. Needs the right to mount (`canMount`). */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { statfs } from "node:fs/promises";
import { createInterface } from "node:readline";
import { temporaryFolder } from "./temporary-folder.ts";

const inNamespace = ["--user", "--map-root-user", "--mount", "sh", "-c"];

/** Whether this system lets the tests mount a file system. */
export function canMount(): boolean {
  return spawnSync("unshare", [...inNamespace, "mount -t tmpfs none /mnt"]).status === 0;
}

export interface SmallDisk extends AsyncDisposable {
  readonly path: string;
  /** Allows so many more files and folders. */
  allowFiles(more: number): Promise<void>;
  /** Allows so many more blocks of 4096 bytes. */
  allowBlocks(more: number): Promise<void>;
  setReadOnly(isReadOnly: boolean): Promise<void>;
}

/** Creates an empty disk, at first with plenty of room. It exists as long as a process has it mounted. */
export async function smallDisk(): Promise<SmallDisk> {
  const folder = await temporaryFolder();
  const script = `mount -t tmpfs -o mode=700 none "$1"; echo $?; while read -r line; do eval "$line"; echo $?; done`;
  const holder = spawn("unshare", [...inNamespace, script, "sh", folder.path], { stdio: ["pipe", "pipe", "inherit"] });
  const answers = createInterface(holder.stdout)[Symbol.asyncIterator]();
  const path = `/proc/${holder.pid}/root${folder.path}`;

  async function answered(): Promise<void> {
    const answer: IteratorResult<string, unknown> = await answers.next();
    if (answer.value !== "0") throw new Error("the disk was not mounted");
  }

  async function run(line: string): Promise<void> {
    holder.stdin.write(`${line}\n`);
    await answered();
  }

  const remount = (how: string): Promise<void> => run(`mount -o remount,${how} "$1"`);

  await answered();
  return {
    path,
    async allowFiles(more) {
      await remount("nr_inodes=1000");
      const { files, ffree } = await statfs(path);
      await remount(`nr_inodes=${files - ffree + more}`);
    },
    async allowBlocks(more) {
      await remount("size=4096k");
      const { blocks, bfree } = await statfs(path);
      await remount(`size=${Math.max(1, blocks - bfree + more) * 4096}`);
    },
    // The disk itself cannot become read-only while a file on it is open. A second mount in front of it can.
    setReadOnly: (isReadOnly) =>
      run(isReadOnly ? 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"' : 'umount "$1"'),
    async [Symbol.asyncDispose]() {
      const exited = once(holder, "exit");
      holder.stdin.end();
      await exited;
      await folder[Symbol.asyncDispose]();
    },
  };
}
