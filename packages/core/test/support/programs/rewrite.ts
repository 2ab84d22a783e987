/** Rewrites a large file again and again until it is killed: `rewrite FILE`. */

import { updateText } from "../../../src/files/atomic/update-text.ts";
import { largeText } from "../large-text.ts";

const [file = ""] = process.argv.slice(2);
for (let index = 1; ; index += 1) await updateText(file, () => largeText(index));
