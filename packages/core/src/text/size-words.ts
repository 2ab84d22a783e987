/** Writes a number of bytes for a person. */

const units = ["kB", "MB", "GB"];

/** Returns a size such as `512 B` or `1.5 MB`. One kB is 1000 bytes. */
export function sizeWords(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const unit = Math.min(units.length, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** unit).toFixed(1)} ${units[unit - 1]}`;
}
