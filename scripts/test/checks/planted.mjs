// A repository with a few files that contain violations, for tests of the checks.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Runs the check in a folder that has these files below `packages/`. */
export async function planted(files, check) {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-planted-"));
  try {
    for (const [name, content] of Object.entries(files)) {
      const file = join(folder, "packages", name);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
    }
    return await check(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}
