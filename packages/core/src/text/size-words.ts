/** Writes a number of bytes for a person. */

const units = ["kB", "MB", "GB"];

/** Returns a size such as `512 B` or `1.5 MB`. One kB is 1000 bytes. */
export function sizeWords(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  // One decimal is shown, so 999 950 bytes are already 1.0 MB.
  const fits = (power: number): boolean => bytes / 1000 ** power < 999.95;
  const unit = units.findIndex((_, index) => fits(index + 1)) + 1 || units.length;
  return `${(bytes / 1000 ** unit).toFixed(1)} ${units[unit - 1]}`;
}
