/** Says which tests ran with a program that not every machine has, and which did not because it is absent. */

import { appendFileSync } from "node:fs";

/** The variable with the file from which `npm test` prints a summary. */
const notesVariable = "FAIRLEAD_TEST_NOTES";

/** @param version What was found. Undefined if the program is absent, so that the tests did not run. */
export function noteProgram(subject: string, program: string, version: string | undefined): void {
  const words = version === undefined ? `${program} is absent, not tested` : `tested with ${program} ${version}`;
  process.stderr.write(`${subject}: ${words}\n`);
  const file = process.env[notesVariable];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify({ subject, program, version })}\n`);
}
