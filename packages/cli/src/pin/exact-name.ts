/** From the name of a package or image to one that means the same tomorrow. */

import { imageDigest } from "./image-digest.ts";
import { npmVersion } from "./npm-version.ts";
import { pythonVersion } from "./python-version.ts";
import type { Exact, Wanted } from "./wanted.ts";

export function exactName(wanted: Wanted): Promise<Exact> {
  switch (wanted.download.from) {
    case "npm":
      return npmVersion(wanted);
    case "PyPI":
      return pythonVersion(wanted);
    case "an image registry":
      return imageDigest(wanted);
  }
}
