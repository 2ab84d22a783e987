// Refuses a command line that cannot be used, for the scripts that developers run.

/** A command line that cannot be used. Its message is a sentence for the person who typed it. */
export class UsageError extends Error {}

/** Returns the number that an option has. @throws UsageError if the text is not a whole number above 0 */
export function wholeNumber(option, text) {
  if (!/^[1-9][0-9]{0,8}$/.test(text))
    throw new UsageError(`${option} needs a whole number from 1 to 999999999, not "${text}"`);
  return Number(text);
}
