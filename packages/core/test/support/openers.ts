/** A folder with programs that would open a browser, and the place to search for them. */

import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import type { ProgramPlace } from "../../src/trust/programs.ts";

export interface Openers extends TemporaryFolder {
  /** The place of a machine whose `PATH` has the programs; `env` may replace it. */
  readonly place: (platform: NodeJS.Platform, env: Readonly<Record<string, string>>) => ProgramPlace;
  readonly fileOf: (name: string) => string;
}

export async function openersFolder(code = "exit 0"): Promise<Openers> {
  const folder = await temporaryFolder();
  for (const name of ["xdg-open", "wslview"])
    await chmod(await folder.write(`bin/${name}`, `#!/bin/sh\n${code}\n`), 0o755);
  const bin = join(folder.path, "bin");
  return {
    ...folder,
    fileOf: (name) => join(bin, name),
    place: (platform, env) => ({
      environment: { platform, env: { PATH: bin, ...env }, home: join(folder.path, "home") },
      root: join(folder.path, "workspace"),
      trusted: false,
    }),
  };
}
