/**
 * Ids of conversations. Sorted ids have the order in which the conversations began. An id is part of a file name, so a
 * text that is not a valid id is rejected.
 */

import { randomBytes } from "node:crypto";

const pattern = /^\d{8}-\d{6}-[0-9a-f]{6}$/;

export function isConversationId(text: string): boolean {
  return pattern.test(text);
}

export function createConversationId(now: number): string {
  const [date = "", time = ""] = new Date(now).toISOString().replaceAll(/[-:]/g, "").split("T");
  return `${date}-${time.slice(0, 6)}-${randomBytes(3).toString("hex")}`;
}
