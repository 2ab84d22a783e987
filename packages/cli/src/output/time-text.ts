/** Points in time as text. */

/** `2026-01-31 09:30:05` in the time zone of this machine, or `2026-01-31T08:30:05Z`; without fractions of a second. */
export function timeText(time: string, isUtc: boolean): string {
  if (isUtc) return time.replace(/\.\d+Z$/, "Z");
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return time;
  const two = (number: number): string => String(number).padStart(2, "0");
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":")}`;
}
