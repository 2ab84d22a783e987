/** Adds keys to a settings file, one edit each: `add-keys FILE PREFIX COUNT`. Says on stdout what went wrong, if anything. */

import { HostError } from "../../../src/errors.ts";
import { updateText } from "../../../src/files/atomic/update-text.ts";
import { setValue } from "../../../src/files/json/json-edit.ts";

const [file = "", prefix = "", count = "1"] = process.argv.slice(2);
try {
  for (let index = 0; index < Number(count); index += 1) {
    await updateText(file, (text) => setValue(text, [`${prefix}${index}`], { index }));
  }
} catch (error) {
  if (!(error instanceof HostError)) throw error;
  process.stdout.write(`${error.code}: ${error.message}`);
}
