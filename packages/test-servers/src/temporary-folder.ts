/** A folder that is removed at the end of the scope: `await using folder = await temporaryFolder()`. */

import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { watchFolder } from "./guard/folders.ts";

export interface TemporaryFolder extends AsyncDisposable {
  /** The real path of the folder, without symbolic links. */
  readonly path: string;
  /** Writes a file into the folder, creates missing parent folders, and returns the file's path. */
  write(name: string, content: string | object): Promise<string>;
  read(name: string): Promise<string>;
}

export async function temporaryFolder(): Promise<TemporaryFolder> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "fairlead-")));
  const noteRemoval = watchFolder(path);
  return {
    path,
    async write(name, content) {
      const file = join(path, name);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, typeof content === "string" ? content : JSON.stringify(content, undefined, 2));
      return file;
    },
    read: (name) => readFile(join(path, name), "utf8"),
    async [Symbol.asyncDispose]() {
      await rm(path, { recursive: true, force: true });
      noteRemoval();
    },
  };
}
