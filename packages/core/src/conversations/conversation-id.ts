/** Ids of conversations. Sorting by id sorts by start time. Ids become file names, so every id must be checked. */

import { randomBytes } from "node:crypto";

const pattern = /^\d{8}-\d{6}-[0-9a-f]{6}$/;

/** Whether `text` has the form of an id, such as `20260131-093000-a1b2c3`. */
export function isConversationId(text: string): boolean {
  return pattern.test(text);
}

/** A new id from the time in milliseconds (as UTC) and a random suffix. */
export function createConversationId(now: number): string {
  const [date = "", time = ""] = new Date(now).toISOString().replaceAll(/[-:]/g, "").split("T");
  return `${date}-${time.slice(0, 6)}-${randomBytes(3).toString("hex")}`;
}
